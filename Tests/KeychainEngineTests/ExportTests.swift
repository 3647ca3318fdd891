import Foundation
import KeychainModel
import KeychainTestSupport
import Testing

@testable import KeychainEngine

/// What an export takes along, and what it leaves out.
@Suite struct ExportTests {
    @Test("Every item that may leave the device is there once, whole, whatever its class and group")
    func everything() throws {
        try withKeychain { keychain in
            let engine = keychain.engine
            var requests: [AddRequest] = ItemClass.stored.map { itemClass in
                var request = AddRequest(itemClass)
                request.secret = .of("secret of \(itemClass)")
                return request
            }
            requests += [
                .password("a", group: "one"), .password("a", group: "two"), .password("none", secret: nil),
                .password("empty", secret: ""), .password("ck", protection: .afterFirstUnlock),
                .password("dk", protection: .always),
            ]
            var added: [Item] = []
            for request in requests { added.append(try engine.add(request, as: .owner)) }
            for index in added.indices { added[index].secret = requests[index].secret }
            let export = try engine.exportAll()
            #expect(export.items.count == added.count)
            #expect(export.items.described == added.described)
            #expect(export.leftOut == LeftOut())
        }
    }

    @Test("What never leaves the device, asks for authentication or belongs to a token is left out and counted")
    func leftOut() throws {
        try withKeychain { keychain in
            let engine = keychain.engine
            try engine.setPasscode("1234")
            for protection in Protection.allCases {
                try engine.add(.password(protection.rawValue, protection: protection))
            }
            var synchronizable = AddRequest.password("synchronizable", protection: .whenUnlockedThisDeviceOnly)
            synchronizable.synchronizable = true
            try engine.add(synchronizable)
            var constrained = AddRequest.password("asks")
            constrained.accessControl = try AccessControl(.whenUnlocked, flags: .userPresence)
            try engine.add(constrained)
            var token = AddRequest.password("token")
            token.attributes[.tokenID] = .text("com.example.token")
            try engine.add(token)
            let export = try engine.exportAll()
            #expect(Set(export.items.map(\.accessControl.protection)) == [.whenUnlocked, .afterFirstUnlock, .always])
            #expect(export.items.count == 3)
            #expect(export.leftOut.thisDeviceOnly == 5)
            #expect(export.leftOut.constrained == 1)
            #expect(export.leftOut.ofTokens == 1)
            #expect(export.leftOut.unreadable == 0)
        }
    }

    @Test("A row that does not open is counted, and the others are exported")
    func unreadable() throws {
        try withClosedStore { engine in
            for account in ["a", "b", "c", "d"] { try engine.add(.password(account)) }
        } _: { store in
            try store.edit("UPDATE item SET metadata = zeroblob(length(metadata)) WHERE id = 1")
            try store.edit("UPDATE item SET secret = zeroblob(length(secret)) WHERE id = 2")
            try store.edit("UPDATE item SET home = 77 WHERE id = 3")
            let export = try store.open().exportAll()
            #expect(export.items.map { $0.attributes[.account] } == [.text("d")])
            #expect(export.leftOut.unreadable == 3)
        }
    }

    @Test("Nothing is exported while an item of it is locked")
    func locked() throws {
        try withKeychain { keychain in
            try keychain.engine.add(.password("dk", protection: .always))
            try keychain.engine.add(.password("aku", protection: .whenUnlockedThisDeviceOnly))
            try keychain.setPasscode("1234")
            try keychain.lock()
            // What is locked does not leave the device anyway.
            #expect(try keychain.engine.exportAll().items.count == 1)
            try keychain.unlock("1234")
            try keychain.engine.add(.password("ak"))
            try keychain.lock()
            let error = #expect(throws: KeychainError.self) { try keychain.engine.exportAll() }
            #expect(error?.code == .interactionNotAllowed)
            try keychain.unlock("1234")
            #expect(try keychain.engine.exportAll().items.count == 2)
        }
    }

    @Test("One group alone, also when nobody can tell what is in it")
    func group() throws {
        try withKeychain { keychain in
            let engine = keychain.engine
            for group in ["one", "two"] {
                for protection in [Protection.whenUnlocked, .always, .alwaysThisDeviceOnly] {
                    try engine.add(.password(protection.rawValue, group: group, protection: protection), as: .owner)
                }
            }
            let export = try engine.exportAll(group: "one")
            #expect(export.items.count == 2)
            #expect(export.items.allSatisfy { $0.accessGroup == "one" })
            #expect(export.leftOut.thisDeviceOnly == 1)
            #expect(try engine.exportAll(group: "three").items.isEmpty)
            try keychain.setPasscode("1234")
            keychain.restart()
            let restarted = try Engine(keychain.configuration)
            let error = #expect(throws: KeychainError.self) { try restarted.exportAll(group: "one") }
            #expect(error?.code == .interactionNotAllowed)
        }
    }

    @Test("A row that an edit put into a group's home is not exported with that group")
    func editedHome() throws {
        try withClosedStore { engine in
            try engine.add(.password("a", group: "one"), as: .owner)
            try engine.add(.password("b", group: "two"), as: .owner)
        } _: { store in
            try store.edit("UPDATE item SET home = (SELECT home FROM item WHERE id = 1)")
            #expect(try store.open().exportAll(group: "one").items.map(\.accessGroup) == ["one"])
        }
    }

    @Test("Only the owner exports and imports")
    func authority() throws {
        try withKeychain { keychain in
            for request in [Request.exportItems(ExportRequest()), .importItems(ImportRequest([.password("a")]))] {
                let error = #expect(throws: KeychainError.self) { try keychain.engine.handle(request, from: caller) }
                #expect(error?.code == .missingEntitlement)
            }
        }
    }

    @Test("Parts are bounded by rows and by bytes, and together are everything")
    func parts() throws {
        try withKeychain { keychain in
            let engine = keychain.engine
            for number in 0..<2_100 { try engine.add(.password("\(number)", secret: "")) }
            for number in 0..<5 {
                var request = AddRequest.password("large \(number)")
                request.secret = SecretBytes(copying: Data(count: 3 << 20))
                try engine.add(request)
            }
            let export = try engine.exportAll()
            #expect(export.items.count == 2_105)
            #expect(Set(export.items.map(\.identifier)).count == 2_105)
            #expect(export.parts == 4)
        }
    }

    @Test("While keys are renewed nothing is missed and nothing is there twice")
    func duringRenewal() throws {
        try withKeychain { keychain in
            let engine = keychain.engine
            for number in 0..<2_600 { try engine.add(.password("\(number)", secret: "")) }
            _ = try engine.handle(.passcode(.set(.of("1234"))), from: .owner)
            _ = try engine.handle(.rekeyStep, from: .owner)
            #expect(try engine.generations().rows == [1, 2])
            guard case .exported(let first) = try engine.handle(.exportItems(ExportRequest()), from: .owner) else {
                return
            }
            _ = try engine.handle(.rekeyStep, from: .owner)
            let start = try #require(first.next)
            let rest = try engine.handle(.exportItems(ExportRequest(start: start)), from: .owner)
            guard case .exported(let second) = rest else {
                Issue.record("another answer")
                return
            }
            #expect(second.next == nil)
            #expect(Set((first.items + second.items).map(\.identifier)).count == 2_600)
            #expect(first.items.count + second.items.count == 2_600)
        }
    }

    @Test("An item that is changed while an export is under way is there once, as it was or as it is")
    func changedMeanwhile() throws {
        try withKeychain { keychain in
            let engine = keychain.engine
            for number in 0..<2_100 { try engine.add(.password("\(number)")) }
            guard case .exported(let first) = try engine.handle(.exportItems(ExportRequest()), from: .owner) else {
                return
            }
            var changes = ItemChanges()
            changes.secret = .of("new")
            for account in ["5", "2090"] {
                _ = try engine.handle(
                    .update(UpdateRequest(.password([.account: .text(account)]), changes: changes)), from: caller)
            }
            let rest = try engine.handle(.exportItems(ExportRequest(start: try #require(first.next))), from: .owner)
            guard case .exported(let second) = rest else {
                Issue.record("another answer")
                return
            }
            let items = first.items + second.items
            for (account, secret) in [("5", "secret"), ("2090", "new")] {
                let found = items.filter { $0.attributes[.account] == .text(account) }
                #expect(found.map { $0.secret?.copyData() } == [Data(secret.utf8)])
            }
            #expect(items.count == 2_100)
        }
    }
}
