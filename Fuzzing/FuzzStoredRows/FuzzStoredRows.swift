import CFuzzer
import Foundation
import KeychainModel

/// What the engine makes of the rows of a database that somebody wrote who has the store's keys, or who has none: a
/// real store, in which every input puts something else into the tables before all that the engine can do is done.
///
/// The first byte chooses what the rest is: metadata or a secret that is sealed as the engine would seal it, so that what
/// lies behind the check of the seal is reached; columns of an item's row; or rows of the other tables.
@main
struct FuzzStoredRows {
    static func main() {
        var count = CommandLine.argc
        var arguments = CommandLine.unsafeArgv
        exit(LLVMFuzzerRunDriver(&count, &arguments) { fuzzStoredRows($0, $1) })
    }
}

/// Under this name too, because libFuzzer's own `main` is linked and looks for it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzStoredRows(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 0 else { return 0 }
    var input = RowInput(Data(bytes: start + 1, count: count - 1))
    try! store.restore()
    switch start[0] % 4 {
    case 0:
        try! store.putMetadata(input.rest, withoutSecret: start[0] >= 128)
        store.useAll(isAuthentic: true)
    case 1:
        try! store.putSecret(input.rest)
        precondition(store.secretOfFirst() == input.rest, "a secret came back as another one")
        store.useAll(isAuthentic: true)
    case 2:
        while !input.isEmpty { try! store.editItem(&input) }
        store.useAll(isAuthentic: false)
    default:
        while !input.isEmpty { try! store.editOthers(&input) }
        // What an engine remembers of the tables is true only of tables that nobody edits.
        store.reopen()
        store.useAll(isAuthentic: false)
        try! store.restore()
        store.reopen()
    }
    return 0
}

private let store = FuzzedStore()

/// The input, read as values that a column may have.
struct RowInput {
    private(set) var rest: Data

    init(_ input: Data) { rest = input }

    var isEmpty: Bool { rest.isEmpty }

    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    mutating func bytes(_ limit: Int) -> Data {
        let taken = Data(rest.prefix(Int(byte()) % (limit + 1)))
        rest = rest.dropFirst(taken.count)
        return taken
    }

    mutating func integer() -> Int64 {
        switch byte() % 4 {
        case 0: Int64(byte())
        case 1: -Int64(byte())
        case 2: .max
        default: bytes(8).reduce(0) { $0 << 8 | Int64($1) }
        }
    }
}
