import Foundation
import KeychainEngine
import KeychainModel
import KeychainTestSupport
import Testing

@Suite struct AccessPolicyTests {
    @Test("The owner of the store reads, changes and deletes in every group")
    func owner() throws {
        try withKeychain { keychain in
            let engine = keychain.engine
            let owner = Caller(groups: ["keychain"], authority: .owner)
            try engine.add(.password("ann"), as: Caller(groups: ["A"]))
            try engine.add(.password("bob"), as: Caller(groups: ["B"]))
            #expect(try engine.find(.password(limit: .all), as: owner).map(\.accessGroup) == ["A", "B"])
            try engine.add(.password("cid"), as: owner)
            #expect(try engine.secret(of: "cid", as: Caller(groups: ["keychain"])) == "secret")
            var changes = ItemChanges()
            changes.accessGroup = "B"
            _ = try engine.handle(
                .update(UpdateRequest(.password([.account: .text("ann")]), changes: changes)), from: owner)
            #expect(try engine.secret(of: "ann", as: Caller(groups: ["B"])) == "secret")
            _ = try engine.handle(.delete(.password()), from: owner)
            #expect(throws: KeychainError.self) { try engine.find(.password(), as: owner) }
        }
    }

    @Test("The owner of the store adds nothing to the group of tokens")
    func ownerAndTokenGroup() throws {
        try withKeychain { keychain in
            let error = #expect(throws: KeychainError.self) {
                try keychain.engine.add(.password("ann", group: Caller.tokenGroup), as: .owner)
            }
            #expect(error?.code == .missingEntitlement)
        }
    }

    @Test("A refusal names the group asked for and those held, and no other")
    func message() throws {
        try withKeychain { keychain in
            try keychain.engine.add(.password("eve", group: "E"), as: Caller(groups: ["E"]))
            let error = #expect(throws: KeychainError.self) {
                try keychain.engine.add(.password("ann", group: "X"), as: Caller(groups: ["Y", "Z"]))
            }
            #expect(error?.code == .missingEntitlement)
            #expect(error?.message == "access group X is not among yours: Y, Z")
        }
    }

    @Test("What is not found is named by attribute, not by value")
    func notFoundMessage() throws {
        try withKeychain { keychain in
            let error = #expect(throws: KeychainError.self) {
                try keychain.engine.find(.password([.account: .text("private"), .service: .text("intimate")]))
            }
            #expect(error?.message == "no generic password matches account, service")
        }
    }

    @Test("Attributes of 20 MB are stored, told apart and found")
    func largeAttributes() throws {
        try withKeychain { keychain in
            let engine = keychain.engine
            let large = Data(repeating: 0x0a, count: 20_000_000)
            var request = AddRequest(.genericPassword)
            request.attributes = [.account: .data(large), .service: .data(large), .label: .data(large)]
            try engine.add(request)
            let error = #expect(throws: KeychainError.self) { try engine.add(request) }
            #expect(error?.code == .duplicateItem)
            for attribute in [Attribute.account, .service, .label] {
                #expect(try engine.find(.password([attribute: .data(large)])).count == 1)
                #expect(throws: KeychainError.self) { try engine.find(.password([attribute: .data(large + [0])])) }
            }
        }
    }

    @Test(
        "An item of 64 MiB is refused, and one of 20 MB is stored",
        arguments: [(20_000_000, true), (67_108_864, false)])
    func size(count: Int, fits: Bool) throws {
        try withKeychain { keychain in
            var request = AddRequest.password("big", secret: nil)
            request.secret = SecretBytes(copying: Data(repeating: 0x5a, count: count))
            if fits {
                try keychain.engine.add(request)
                let found = try keychain.engine.find(.password()).first
                #expect(found?.secret?.copyData() == Data(repeating: 0x5a, count: count))
            } else {
                let error = #expect(throws: KeychainError.self) { try keychain.engine.add(request) }
                #expect(error?.code == .dataTooLarge)
            }
        }
    }
}
