import Foundation
import KeychainEngine
import KeychainModel
import KeychainTestSupport
import Testing

/// Someone has a copy of the files.
@Suite struct StolenDiskTests {
    private let needles = [
        "needle-account", "needle-service", "needle-label", "needle-comment", "needle-group", "needle-secret",
        "needle-second-secret",
    ]

    private func fill(_ engine: Engine) throws {
        var request = AddRequest.password(
            "needle-account", service: "needle-service", secret: "needle-secret", label: "needle-label",
            group: "needle-group")
        request.attributes[.comment] = .data(Data("needle-comment".utf8))
        let owner = Caller(groups: ["needle-group"])
        try engine.add(request, as: owner)
        var changes = ItemChanges()
        changes.secret = SecretBytes(copying: Data("needle-second-secret".utf8))
        _ = try engine.handle(
            .update(UpdateRequest(.password([.account: .text("needle-account")]), changes: changes)), from: owner)
    }

    private func found(_ needles: [String], in files: [URL]) throws -> [String] {
        try needles.filter { needle in
            try files.contains { try Data(contentsOf: $0).range(of: Data(needle.utf8)) != nil }
        }
    }

    @Test("No secret, attribute value or group name lies on the disk in clear, open or closed")
    func nothingInClear() throws {
        try withTemporaryDirectory { directory in
            let store = ClosedStore(directory: directory)
            do {
                let engine = try store.open()
                try fill(engine)
                let files = try store.files
                #expect(files.contains { $0.lastPathComponent == "keychain.db-wal" })
                #expect(try found(needles, in: files).isEmpty)
                withExtendedLifetime(engine) {}
            }
            #expect(try found(needles, in: store.files).isEmpty)
            // The positive control: the same search finds what is there in clear.
            try Data("xneedle-secretx".utf8).write(to: store.storeDirectory.appendingPathComponent("control"))
            #expect(try found(needles, in: store.files) == ["needle-secret"])
        }
    }

    @Test("Nor does an unkeyed digest of one")
    func noDigests() throws {
        try withClosedStore(fill) { store in
            let files = try store.files
            for needle in needles {
                for digest in unkeyedDigests(of: Data(needle.utf8)) {
                    // Sixteen bytes, since the store cuts its own codes there.
                    #expect(try !files.contains { try Data(contentsOf: $0).range(of: digest.prefix(16)) != nil })
                }
            }
        }
    }

    @Test("With a passcode neither it nor a value is there, in clear or as a digest, at any step of its life")
    func passcodeNowhere() throws {
        let passcodes = ["needle-passcode", "needle-second-passcode", "needle-wrong-passcode"]
        let words = needles + passcodes
        let digests = words.flatMap { unkeyedDigests(of: Data($0.utf8)) }.map { $0.prefix(16) }
        try withKeychain { keychain in
            let store = ClosedStore(directory: keychain.directory)
            func expectNothing(_ step: String) throws {
                for file in try store.files {
                    let bytes = try Data(contentsOf: file)
                    for word in words { #expect(bytes.range(of: Data(word.utf8)) == nil, "\(step): \(word)") }
                    for digest in digests { #expect(bytes.range(of: digest) == nil, "\(step)") }
                }
            }
            let engine = keychain.engine
            try fill(engine)
            for number in 0..<600 { try engine.add(.password("\(number)")) }
            let reply = try engine.handle(.passcode(.set(.of(passcodes[0]))), from: caller)
            try expectNothing("new passcode")
            _ = try engine.handle(.rekeyStep, from: caller)
            try expectNothing("during the renewal")
            try engine.finishRekey(after: reply)
            try expectNothing("after the renewal")
            try keychain.lock()
            #expect(throws: KeychainError.self) { try keychain.unlock(passcodes[2]) }
            try expectNothing("after a wrong passcode")
            try engine.changePasscode(from: passcodes[0], to: passcodes[1], rekey: true)
            try expectNothing("after a change")
        }
    }

    @Test("What is always accessible is all that opens with the device key alone")
    func poweredOffDisk() throws {
        try withKeychain { keychain in
            for protection in Protection.withoutPasscode {
                try keychain.engine.add(.password(protection.rawValue, protection: protection))
            }
            try keychain.setPasscode("1234")
            // The thief has every file, and a system that was never unlocked.
            keychain.restart()
            let thief = try Engine(keychain.configuration)
            for protection in Protection.withoutPasscode {
                var query = ItemQuery.password([.account: .text(protection.rawValue)])
                query.protection = protection
                if protection.tier == .always {
                    #expect(try thief.find(query).first?.secret?.copyData() == Data("secret".utf8))
                } else {
                    let error = #expect(throws: KeychainError.self) { try thief.find(query) }
                    #expect(error?.code == .interactionNotAllowed)
                }
            }
        }
    }

    @Test("The same items give other tokens in another store")
    func tokensArePerStore() throws {
        let first: Data? = try withClosedStore(fill) { try $0.value("SELECT tokens FROM item")?.bytes }
        let second: Data? = try withClosedStore(fill) { try $0.value("SELECT tokens FROM item")?.bytes }
        #expect(first?.count == second?.count)
        #expect(first != nil && first != second)
    }

    @Test("Without the device key the store is refused and left as it was")
    func withoutDeviceKey() throws {
        try withClosedStore(fill) { store in
            try FileManager.default.removeItem(at: store.deviceKey)
            let before = try store.files.map { try Data(contentsOf: $0) }
            let error = #expect(throws: KeychainError.self) { try store.open() }
            #expect(error?.code == .notAvailable)
            #expect(try store.files.map { try Data(contentsOf: $0) } == before)
        }
    }

    @Test("Deleted and replaced secrets leave no ciphertext in the closed store's database")
    func secureDelete() throws {
        try withTemporaryDirectory { directory in
            let store = ClosedStore(directory: directory)
            try store.open().add(.password("ann"))
            let old = try #require(try store.value("SELECT secret FROM item")?.bytes)
            _ = try store.open().handle(.delete(.password()), from: caller)
            // Opening and closing once more moves the log's content into the database.
            _ = try store.value("SELECT count(*) FROM item")
            #expect(try !store.files.contains { try Data(contentsOf: $0).range(of: old) != nil })
        }
    }
}
