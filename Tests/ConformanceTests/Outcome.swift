import Foundation
import KeychainSecurity
import Testing

/// What a call must answer: a status, and a result of a certain shape.
struct Outcome {
    let status: OSStatus
    /// Says what is wrong with the result, or nothing if it is right.
    private let flaw: (CFTypeRef?) -> String?

    private init(_ status: OSStatus, _ flaw: @escaping (CFTypeRef?) -> String?) {
        self.status = status
        self.flaw = flaw
    }

    /// A failure leaves the caller's result as it was.
    private static func failure(_ status: OSStatus) -> Outcome {
        Outcome(status) { $0 == nil ? nil : "a failed call has set the result" }
    }

    static var unimplemented: Outcome { failure(-4) }
    static var parameter: Outcome { failure(-50) }
    static var authenticationFailed: Outcome { failure(-25293) }
    static var duplicate: Outcome { failure(-25299) }
    static var notFound: Outcome { failure(-25300) }
    static var tooLarge: Outcome { failure(-25302) }
    static var noSuchAttribute: Outcome { failure(-25303) }
    static var noSuchClass: Outcome { failure(-25306) }
    static var interactionNotAllowed: Outcome { failure(-25308) }
    static var decode: Outcome { failure(-26275) }
    static var missingEntitlement: Outcome { failure(-34018) }

    func check(_ status: OSStatus, _ result: CFTypeRef?, of title: String, at location: SourceLocation) {
        #expect(status == self.status, "\(title)", sourceLocation: location)
        if status == self.status, let flaw = flaw(result) {
            Issue.record("\(title): \(flaw)", sourceLocation: location)
        }
    }
}

extension Outcome {
    /// Success, whatever the result.
    static var success: Outcome { Outcome(errSecSuccess) { _ in nil } }

    /// Success without a result.
    static var nothing: Outcome { Outcome(errSecSuccess) { $0 == nil ? nil : "there is a result" } }

    /// Success with exactly these bytes.
    static func data(_ expected: Data) -> Outcome {
        Outcome(errSecSuccess) { result in
            // Not `as? Data`, which on Linux copies byte by byte and takes seconds for a large secret.
            guard let data = result as? NSData else { return "the result is not data" }
            let isSame = data.isEqual(to: expected)
            return isSame ? nil : "the data are others (\(data.length) bytes, \(expected.count) expected)"
        }
    }

    /// Success with an array of exactly these bytes, in any order.
    static func data(inAnyOrder expected: [Data]) -> Outcome {
        Outcome(errSecSuccess) { result in
            guard let found = result as? [Data] else { return "the result is not an array of data" }
            let isSame = found.map(\.hex).sorted() == expected.map(\.hex).sorted()
            return isSame ? nil : "the data are others (\(found.count) values, \(expected.count) expected)"
        }
    }

    /// Success with an array of that many values.
    static func array(of count: Int) -> Outcome {
        Outcome(errSecSuccess) { result in
            guard let found = result as? [Any] else { return "the result is not an array" }
            return found.count == count ? nil : "the array has \(found.count) values, \(count) expected"
        }
    }

    /// Success with a dictionary that has at least these values, and none under the keys in `without`.
    static func dictionary(_ expected: Item, without absent: [CFString] = []) -> Outcome {
        Outcome(errSecSuccess) { flaw(in: $0, expected: expected, absent: absent) }
    }

    /// The same in an array of one.
    static func dictionaryInArray(_ expected: Item, without absent: [CFString] = []) -> Outcome {
        Outcome(errSecSuccess) { result in
            guard let found = result as? [Any], found.count == 1 else { return "the result is not an array of one" }
            return flaw(in: found[0] as CFTypeRef, expected: expected, absent: absent)
        }
    }

    private static func flaw(in result: CFTypeRef?, expected: Item, absent: [CFString]) -> String? {
        guard let found = result as? Attributes else { return "the result is not a dictionary" }
        for (key, value) in expected {
            guard let other = found[key as String] else { return "there is no \(key)" }
            if !areEqual(value, other) { return "\(key) is \(other), not \(value)" }
        }
        let surplus = absent.first { found[$0 as String] != nil }
        return surplus.map { "there is a value for \($0)" }
    }
}

extension Data {
    fileprivate var hex: String { map { String($0, radix: 16) }.joined(separator: ".") }
}
