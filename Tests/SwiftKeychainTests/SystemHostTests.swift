import Foundation
import KeychainModel
import KeychainTestSupport
import Testing

@testable import KeychainClient
@testable import SwiftKeychain

/// A client of the system's daemon, which gives it its groups.
@Suite struct SystemHostTests {
    private func connection(_ keychain: TestKeychain, _ caller: Caller) -> Connection {
        Connection(engine: keychain.handler, caller: caller, prompter: keychain.prompter)
    }

    private let export = Question<ExportedPart>.export(ExportRequest())

    @Test("A client asks its daemon for its groups where the daemon gives them, and goes by its own word elsewhere")
    func groups() throws {
        for host in KeychainHost.everyHost {
            try withKeychain(host, groups: ["G1", "G2"]) { _ in
                #expect(try Connection.current.groups() == ["G1", "G2"])
                let granted = try Connection.current.granted()
                #expect(granted?.groups == (host == .system ? ["G1", "G2"] : nil))
                #expect(try Connection.current.description().pid == getpid())
                #expect(try Keychain(service: "s").group() == "G1")
            }
        }
    }

    @Test("A missing group is explained as the host gives it")
    func explanation() throws {
        for host in [KeychainHost.embedded, .system] {
            try withKeychain(host, groups: ["G1"]) { _ in
                var query = ItemQuery(.genericPassword)
                query.accessGroup = "other"
                let error = #expect(throws: KeychainError.self) {
                    try Connection.current.ask(.find(query, wantsSecrets: false))
                }
                #expect(error?.code == .missingEntitlement)
                #expect(error?.message.contains("administrator") == (host == .system))
            }
        }
    }

    @Test("The owner's work asks for the passcode, once for each session, and says so where nobody is asked")
    func ownersWork() throws {
        try withKeychain(.system) { keychain in
            try keychain.setPasscode("1234")
            let owner = connection(keychain, .owner)
            let silent = #expect(throws: KeychainError.self) { try owner.ask(export) }
            #expect(silent?.code == .interactionNotAllowed)
            let session = AuthenticationSession()
            keychain.prompter.answer(.text("wrong"), .text("1234"))
            for _ in 1...2 { _ = try owner.ask(export, Asking(in: session, reason: "export all items")) }
            #expect(keychain.prompter.questions.count == 2)
            let other = #expect(throws: KeychainError.self) {
                try connection(keychain, Caller(groups: ["G1"])).ask(export, Asking(in: session))
            }
            #expect(other?.code == .missingEntitlement)
        }
    }
}
