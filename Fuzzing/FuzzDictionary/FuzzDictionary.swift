import CFuzzer
import Foundation
import KeychainModel

@testable import KeychainSecurity

/// The parser of the dictionaries that programs hand to `SecItem` functions, which may hold anything.
///
/// The input is read as instructions for building one, so that most inputs reach deep.
@main
struct FuzzDictionary {
    static func main() {
        var count = CommandLine.argc
        var arguments = CommandLine.unsafeArgv
        exit(LLVMFuzzerRunDriver(&count, &arguments) { fuzzDictionary($0, $1) })
    }
}

/// Under this name too, because libFuzzer's own `main` is linked and looks for it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzDictionary(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    var source = DictionarySource(Data(bytes: start, count: count))
    let dictionary = source.dictionary()
    guard let parsed = try? SecItemDictionary(dictionary) else {
        tryChanges(dictionary, .genericPassword)
        return 0
    }
    if let request = try? parsed.addRequest() {
        precondition(!parsed.hasMatchFilters && parsed.limit == nil && request.itemClass != .identity)
        check(request.attributes, of: request.itemClass)
    }
    if let request = try? parsed.findRequest() { check(request.query.attributes, of: request.query.itemClass) }
    _ = try? parsed.updateQuery()
    // A deletion that dropped a filter would take more than was meant.
    if (try? parsed.deleteQuery()) != nil { precondition(!parsed.hasMatchFilters) }
    tryChanges(source.dictionary(), parsed.itemClass)
    return 0
}

private func tryChanges(_ dictionary: NSDictionary, _ itemClass: ItemClass) {
    if let changes = try? SecItemChanges.parse(dictionary, for: itemClass) { check(changes.attributes, of: itemClass) }
}

/// Whatever is accepted is an attribute of the class, in a form that its kind stores.
private func check(_ attributes: AttributeSet, of itemClass: ItemClass) {
    for (attribute, value) in attributes.entries {
        guard let rule = AttributeTable.table(for: itemClass)[attribute] else {
            preconditionFailure("\(attribute) is no attribute of \(itemClass)")
        }
        precondition(rule.kind.coerce(value) == value)
    }
}

/// Builds dictionaries from bytes: known keys and classes as often as arbitrary ones, values of every type.
private struct DictionarySource {
    private static let keys = [
        "class", "acct", "svce", "labl", "agrp", "pdmn", "accc", "sync", "cdat", "mdat", "port", "ptcl", "klbl",
        "kcls", "ctyp", "slnr", "gena", "vwht", "clip", "sysb", "nleg", "m_Limit", "m_HostOrSubdomainOfHost",
        "m_ValidOnDate", "m_TrustedOnly", "m_ItemList", "r_Data", "r_Attributes", "r_Ref", "r_PersistentRef",
        "u_AuthUI", "u_NoAuthUI", "u_AuthCtx", "u_CredRef", "u_OpPrompt", "v_Data", "v_PersistentRef", "v_Ref", "f",
        "sdat",
    ]
    private static let words = [
        "genp", "inet", "cert", "keys", "idnt", "apls", "ak", "ck", "dk", "aku", "akpu", "f", "syna", "m_LimitOne",
        "m_LimitAll", "u_AuthUIA", "u_AuthUIF", "u_AuthUIS", "1", "-1", "2147483648", "",
    ]

    private var rest: Data

    init(_ input: Data) { rest = input }

    mutating func dictionary() -> NSDictionary {
        let result = NSMutableDictionary()
        for _ in 0..<(byte() % 12) { result[key()] = value() }
        return result
    }

    private mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    private mutating func bytes() -> Data {
        let taken = Data(rest.prefix(Int(byte() % 24)))
        rest = rest.dropFirst(taken.count)
        return taken
    }

    private mutating func key() -> AnyHashable {
        let choice = byte()
        if choice < 200 { return Self.keys[Int(choice) % Self.keys.count] }
        if choice < 240 { return String(decoding: bytes(), as: UTF8.self) }
        return choice < 250 ? NSNumber(value: choice) : UUID()
    }

    private mutating func value() -> Any {
        switch byte() % 16 {
        case 0...4: Self.words[Int(byte()) % Self.words.count]
        case 5: String(decoding: bytes(), as: UTF8.self)
        case 6: bytes()
        case 7: byte() % 2 == 0
        case 8: NSNumber(value: Int32(truncatingIfNeeded: Int(byte()) &* 0x0101_0101))
        case 9: NSNumber(value: Double(byte()) / 2)
        case 10: Date(timeIntervalSinceReferenceDate: Double(byte()))
        case 11: NSNull()
        case 12: UUID()
        case 13: SecAccessControl((try? AccessControl(.whenUnlocked, flags: .userPresence)) ?? AccessControl(.always))
        case 14: PersistentReference(itemClass: .key, identifier: UUID()).data
        default: [bytes()]
        }
    }
}
