import Foundation
import KeychainSecurity
import KeychainTestSupport
import Testing

/// One row of a conformance table: a call, and what the reference says it answers.
///
/// A row that fails is reported with its number in the table and with the line it stands on.
struct Row {
    fileprivate let perform: (_ keychain: TestKeychain, _ number: String) -> Void

    static func add(_ item: Item, _ outcome: Outcome, at location: SourceLocation = #_sourceLocation) -> Row {
        call("add \(item.summary)", outcome, location) { SecItemAdd(item as CFDictionary, $0) }
    }

    static func find(_ query: Item, _ outcome: Outcome, at location: SourceLocation = #_sourceLocation) -> Row {
        call("find \(query.summary)", outcome, location) { SecItemCopyMatching(query as CFDictionary, $0) }
    }

    static func update(
        _ query: Item, _ changes: Item, _ outcome: Outcome, at location: SourceLocation = #_sourceLocation
    ) -> Row {
        call("update \(query.summary) to \(changes.summary)", outcome, location) { _ in
            SecItemUpdate(query as CFDictionary, changes as CFDictionary)
        }
    }

    static func delete(_ query: Item, _ outcome: Outcome, at location: SourceLocation = #_sourceLocation) -> Row {
        call("delete \(query.summary)", outcome, location) { _ in SecItemDelete(query as CFDictionary) }
    }

    /// The rows below as another caller sees the same store.
    static func asCaller(_ groups: [String], _ rows: [Row]) -> Row {
        Row { keychain, number in
            keychain.asCaller(groups: groups) { keychain.run(rows, within: "\(number).") }
        }
    }

    /// Sets a passcode, after which the store is unlocked.
    static func setPasscode(_ passcode: String, at location: SourceLocation = #_sourceLocation) -> Row {
        control("set the passcode", location) { try $0.setPasscode(passcode) }
    }

    static func lock(at location: SourceLocation = #_sourceLocation) -> Row {
        control("lock", location) { try $0.lock() }
    }

    static func unlock(_ passcode: String, at location: SourceLocation = #_sourceLocation) -> Row {
        control("unlock", location) { try $0.unlock(passcode) }
    }

    /// Starts the system anew: nobody has unlocked the store since.
    static func restart(at location: SourceLocation = #_sourceLocation) -> Row {
        control("restart", location) { $0.restart() }
    }

    private static func control(
        _ title: String, _ location: SourceLocation, _ body: @escaping (TestKeychain) throws -> Void
    ) -> Row {
        Row { keychain, number in
            do { try body(keychain) } catch {
                Issue.record("row \(number): \(title): \(error)", sourceLocation: location)
            }
        }
    }

    /// Lets time pass.
    static func wait(_ seconds: Double) -> Row {
        Row { keychain, _ in keychain.clock.advance(by: seconds) }
    }

    private static func call(
        _ title: String, _ outcome: Outcome, _ location: SourceLocation,
        _ body: @escaping (UnsafeMutablePointer<CFTypeRef?>) -> OSStatus
    ) -> Row {
        Row { _, number in
            var result: CFTypeRef?
            let status = body(&result)
            outcome.check(status, result, of: "row \(number): \(title)", at: location)
        }
    }
}

extension TestKeychain {
    /// Performs the rows one after the other; a failure does not stop the ones below it.
    func run(_ rows: [Row], within prefix: String = "") {
        for (index, row) in rows.enumerated() {
            row.perform(self, "\(prefix)\(index + 1)")
        }
    }
}

/// Runs a table on a store of its own, as a caller with the groups given.
func table(_ host: KeychainHost, groups: [String] = ["G1", "G2"], _ rows: [Row]) throws {
    try withKeychain(host, groups: groups) { $0.run(rows) }
}
