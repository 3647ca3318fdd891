import Foundation
import KeychainClient
import KeychainModel
import KeychainTestSupport
import SwiftKeychain
import Testing

@Suite("Views, options and attributes of the Swift API") struct KeychainOptionsTests {
    private let keychain = Keychain(service: "service")

    // MARK: Views

    @Test("Where await is not allowed, the blocking view is", arguments: KeychainHost.carriers)
    func blocking(_ host: KeychainHost) async throws {
        try await withKeychain(host) { (_: TestKeychain) async throws in
            let blocking = keychain.blocking
            try await keychain.tasks.set("x", for: "b")
            #expect(try await keychain.tasks.string(for: "a") ?? blocking.string(for: "b") == "x")
            let isThere = try await keychain.contains("b")
            #expect(try isThere && blocking.contains("b") && blocking.keys() == ["b"])
            try blocking.transaction { try $0.set("y", for: "b") }
            #expect(try blocking.compareAndSwap("b", from: "y", to: "z") && blocking.keychain == keychain)
            #expect(try blocking.removeAll() == 1)
        }
    }

    // MARK: Options

    @Test("Each option that is chained is the one that is set")
    func chained() {
        let context = Keychain.Context()
        let control = Keychain.AccessControl(.afterFirstUnlock)
        var other = keychain
        other.accessGroup = "group"
        other.keyPrefix = "user 1 "
        other.accessControl = control
        other.isSynchronizable = true
        other.coding = .propertyList
        other.context = context
        other.reason = "to pay the bill"
        other.mayAsk = false
        let chained = keychain.inGroup("group").prefixed(by: "user 1 ").protected(by: control).synchronizable()
            .coded(by: .propertyList).using(context).asking("to pay the bill").withoutAsking()
        #expect(chained == other)
        let taken = chained.inGroup(nil).prefixed(by: "").protected(by: nil).synchronizable(false).coded(by: .json)
        #expect(taken.using(nil).asking(nil) == keychain.withoutAsking())
    }

    @Test("Two values are equal if they mean the same items and treat them alike")
    func equality() {
        let others = [
            Keychain(service: "other"), Keychain(server: .init("service")), keychain.inGroup("g"),
            keychain.prefixed(by: "p"), keychain.protected(by: .init(.whenUnlocked)), keychain.synchronizable(),
            keychain.coded(by: .propertyList), keychain.using(Keychain.Context()), keychain.asking("r"),
            keychain.withoutAsking(), keychain.configured(KeychainConfiguration()),
        ]
        #expect(keychain == Keychain(service: "service"))
        for (number, other) in others.enumerated() { #expect(keychain != other, "\(number)") }
        for other in others { #expect(other == other) }
    }

    @Test("A keychain without a service has the program's name")
    func named() throws {
        let name = try CallerIdentity.processName.get()
        #expect(!name.isEmpty && Keychain() == Keychain(service: name))
        #expect(Keychain(accessGroup: "g") == Keychain(service: name, accessGroup: "g"))
    }

    @Test("A password that is made has its length and every class of characters, and no other one is the same")
    func generated() throws {
        var made: Set<String> = []
        for length in [4, 20, 1024] {
            for _ in 0..<20 {
                let password = try Keychain.generatePassword(length: length)
                #expect(password.utf8.count == length)
                for characters in CharacterClass.allCases.map(\.characters) {
                    #expect(password.utf8.contains(where: characters.contains))
                }
                if length > 4 { #expect(made.insert(password).inserted) }
            }
        }
        for length in [Int.min, 0, 3, 1025] {
            #expect(KeychainValuesTests.code { _ = try Keychain.generatePassword(length: length) } == .parameter)
        }
        #expect(try Keychain.generatePassword().count == RandomPassword.usualLength)
    }

    // MARK: Items and attributes

    @Test("All items are read with their values in one call", arguments: KeychainHost.carriers)
    func items(_ host: KeychainHost) async throws {
        try await withKeychain(host) { (_: TestKeychain) async throws in
            let user = keychain.prefixed(by: "user ")
            #expect(try user.blocking.items(String.self).isEmpty)
            for number in 1...3 { try await user.set("value \(number)", for: "\(number)") }
            try await keychain.set("x", for: "other")
            let items = try await user.items(String.self).sorted { $0.key < $1.key }
            #expect(items.map(\.key) == ["1", "2", "3"])
            #expect(items.map(\.value) == ["value 1", "value 2", "value 3"])
            #expect(try user.blocking.items([UInt8].self).count == 3)
            #expect(KeychainValuesTests.code { _ = try user.blocking.items(Int.self) } == .decode)
        }
    }

    @Test("A value has dates, a label and a comment, which stay where none is named", arguments: KeychainHost.carriers)
    func attributes(_ host: KeychainHost) throws {
        try withKeychain(host) { test in
            let now = Date(timeIntervalSinceReferenceDate: test.clock.now)
            #expect(try keychain.attributes(for: "k") == nil)
            try keychain.set("a", for: "k", expires: .after(hours: 1), label: "L", comment: "C")
            test.clock.advance(by: 60)
            try keychain.set("b", for: "k")
            try keychain.transaction { try $0.set("c", for: "k", comment: "D") }
            let found = try #require(try keychain.attributes(for: "k"))
            #expect(found.label == "L" && found.comment == "D")
            #expect(found.created == now && found.expires == now + 3_600)
            #expect(found.modified >= now + 60 && found.modified < now + 61)  // two writes of one moment differ
            #expect(found.accessControl == .init(.whenUnlocked) && found.accessGroup == "G1")
            try keychain.update("d", for: "k", label: "M")
            try keychain.add("e", for: "other", label: "N", comment: "O")
            #expect(try keychain.attributes(for: "k")?.label == "M")
            #expect(try keychain.attributes(for: "k")?.comment == "D")
            let other = try keychain.attributes(for: "other")
            #expect(other?.label == "N" && other?.comment == "O" && other?.expires == nil)
        }
    }

    @Test("Attributes are read without a question, of an item that asks only with the answer of a context")
    func silent() throws {
        try withKeychain { test in
            try test.setPasscode("1234")
            let bank = keychain.protected(by: .init(.whenUnlocked, consent: .passcode))
            try bank.set("4711", for: "pin", label: "PIN")
            #expect(KeychainValuesTests.code { _ = try bank.attributes(for: "pin") } == .interactionNotAllowed)
            #expect(test.prompter.questions.isEmpty)
            test.prompter.answer(.text("1234"))
            let answered = bank.using(Keychain.Context())
            #expect(try answered.string(for: "pin") == "4711")
            #expect(try answered.attributes(for: "pin")?.label == "PIN")
            #expect(test.prompter.questions.count == 1)
            try test.lock()
            #expect(KeychainValuesTests.code { _ = try bank.attributes(for: "pin") } == .interactionNotAllowed)
        }
    }

    @Test("What a transaction says twice of a key adds up, and what it removes leaves nothing")
    func transactions() throws {
        try withKeychain { _ in
            try keychain.set("a", for: "k", expires: .after(hours: 1), label: "L", comment: "C")
            try keychain.transaction { changes in
                try changes.set("b", for: "k", label: "M")
                try changes.set("c", for: "k", comment: "D")
            }
            var found = try keychain.attributes(for: "k")
            #expect(found?.label == "M" && found?.comment == "D" && found?.expires != nil)
            try keychain.transaction { changes in
                changes.remove("k")
                try changes.set("d", for: "k")
                try changes.set("e", for: "k", comment: "E")
            }
            found = try keychain.attributes(for: "k")
            #expect(found?.label == nil && found?.comment == "E" && found?.expires == nil)
            #expect(try keychain.string(for: "k") == "e")
        }
    }
}
