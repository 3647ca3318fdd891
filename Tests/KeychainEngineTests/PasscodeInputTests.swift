import Foundation
import Glibc
import KeychainCrypto
import KeychainEngine
import KeychainModel
import KeychainSystem
import KeychainTestSupport
import Testing

/// Bad input: each kind has a status and a text of its own, and leaves every file as it was.
@Suite struct PasscodeInputTests {
    private func expect(
        _ code: KeychainError.Code, mentioning words: String, from keychain: TestKeychain, _ request: Request,
        at location: SourceLocation = #_sourceLocation
    ) throws {
        let before = try keychain.lastingFiles
        let error = #expect(throws: KeychainError.self, sourceLocation: location) {
            try keychain.engine.handle(request, from: caller)
        }
        #expect(error?.code == code, sourceLocation: location)
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "no error")", sourceLocation: location)
        #expect(try keychain.lastingFiles == before, sourceLocation: location)
    }

    @Test("A passcode that is empty, a megabyte long or no UTF-8", arguments: [true, false])
    func badPasscodes(hasPasscode: Bool) throws {
        try withKeychain { keychain in
            try keychain.engine.add(.password("a"))
            if hasPasscode { try keychain.setPasscode("1234") }
            let bad: [(SecretBytes, KeychainError.Code, String)] = [
                (.of(""), .parameter, "cannot be empty"),
                (.of(String(repeating: "x", count: 1 << 20)), .dataTooLarge, "1048576 bytes"),
                (SecretBytes(copying: Data([0x70, 0xff, 0xfe])), .decode, "not valid UTF-8"),
                (SecretBytes(copying: Data([0xc0, 0xaf])), .decode, "not valid UTF-8"),
            ]
            for (passcode, code, words) in bad {
                if hasPasscode {
                    try expect(code, mentioning: words, from: keychain, .unlock(passcode))
                    let change = PasscodeRequest.change(old: .of("1234"), new: passcode, rekey: false)
                    try expect(code, mentioning: words, from: keychain, .passcode(change))
                } else {
                    try expect(code, mentioning: words, from: keychain, .passcode(.set(passcode)))
                }
            }
            #expect(try keychain.lockStatus.failedAttempts == 0)
        }
    }

    @Test(
        "Any UTF-8 of up to 1,024 bytes is a passcode",
        arguments: ["é", "\u{0}", " ", String(repeating: "ü", count: 512)])
    func goodPasscodes(passcode: String) throws {
        try withKeychain { keychain in
            try keychain.setPasscode(passcode)
            try keychain.lock()
            #expect(throws: KeychainError.self) { try keychain.unlock(passcode + "x") }
            try keychain.unlock(passcode)
        }
    }

    @Test("Setting a passcode where there is one")
    func second() throws {
        try withKeychain { keychain in
            try keychain.setPasscode("1234")
            try expect(.duplicateItem, mentioning: "set already", from: keychain, .passcode(.set(.of("5678"))))
        }
    }

    @Test("Everything that needs a passcode where there is none")
    func none() throws {
        try withKeychain { keychain in
            try keychain.engine.add(.password("a"))
            let requests: [Request] = [
                .unlock(.of("1234")), .lock(.now), .lock(.withGrace),
                .passcode(.change(old: .of("a"), new: .of("b"), rekey: true)), .passcode(.remove(old: .of("a"))),
                .passcode(.setPolicy(PasscodePolicy(), passcode: .of("a"))),
            ]
            for request in requests {
                try expect(.noPasscode, mentioning: "no passcode is set", from: keychain, request)
            }
        }
    }

    @Test("An idle limit that is none", arguments: [0, -1, 1 << 40])
    func idleLimit(seconds: Int) throws {
        try withKeychain { keychain in
            try keychain.setPasscode("1234")
            let policy = PasscodePolicy(idleLimit: seconds)
            try expect(
                .parameter, mentioning: "idle limit", from: keychain,
                .passcode(.setPolicy(policy, passcode: .of("1234"))))
        }
    }

    enum BadKeybag: CaseIterable {
        case missing, empty, cutShort, foreignStore, older, newer, fifo, directory
    }

    @Test(
        "A keybag that is missing, cut short, another store's, older, newer or no file", arguments: BadKeybag.allCases)
    func badKeybag(_ kind: BadKeybag) throws {
        try withKeychain { keychain in
            try keychain.engine.add(.password("a"))
            try keychain.setPasscode("1234")
            let file = keychain.directory.appendingPathComponent("store/keybag")
            let good = try Data(contentsOf: file)
            try FileManager.default.removeItem(at: file)
            let words: String
            switch kind {
            case .missing: words = "keybag"
            case .empty: (words, _) = ("does not begin", try Data().write(to: file))
            case .cutShort: (words, _) = ("cut short", try good.prefix(300).write(to: file))
            case .foreignStore: (words, _) = ("different stores", try keychain.foreignKeybag().write(to: file))
            case .older: (words, _) = ("no version ever", try good.withVersion(0).write(to: file))
            case .newer: (words, _) = (OwnProgram.isTooOld, try good.withVersion(9).write(to: file))
            case .fifo: (words, _) = ("is a pipe", mkfifo(file.path, 0o600))
            case .directory: (words, _) = ("is a directory", mkdir(file.path, 0o700))
            }
            let before = try keychain.lastingFiles
            let error = #expect(throws: KeychainError.self) { try Engine(keychain.configuration) }
            #expect(error?.code == .notAvailable)
            #expect(error?.message.contains(words) == true, "\(error?.message ?? "no error")")
            #expect(try keychain.lastingFiles == before)
        }
    }

    @Test("A count of attempts that is no file")
    func badAttempts() throws {
        try withKeychain { keychain in
            try keychain.setPasscode("1234")
            let file = keychain.directory.appendingPathComponent("store/attempts")
            try FileManager.default.removeItem(at: file)
            mkfifo(file.path, 0o600)
            try expect(.notAvailable, mentioning: "is a pipe", from: keychain, .unlock(.of("1234")))
            try FileManager.default.removeItem(at: file)
            try keychain.unlock("1234")
        }
    }

    @Test("A keybag of another user", .enabled(if: geteuid() == 0, "only root can give a file away"))
    func foreignOwner() throws {
        try withKeychain { keychain in
            let file = keychain.directory.appendingPathComponent("store/keybag")
            chown(file.path, 12345, 12345)
            let error = #expect(throws: KeychainError.self) { try Engine(keychain.configuration) }
            #expect(error?.message.contains("belongs to user 12345") == true)
        }
    }

    @Test("A keybag that is older than the database is refused, for reading and for writing")
    func oldKeybag() throws {
        try withKeychain { keychain in
            let file = keychain.directory.appendingPathComponent("store/keybag")
            try keychain.engine.add(.password("a"))
            let old = try Data(contentsOf: file)
            try keychain.setPasscode("1234")
            let new = try Data(contentsOf: file)
            try old.write(to: file)
            let engine = try Engine(keychain.configuration)
            for attempt in [{ _ = try engine.add(.password("b")) }, { _ = try engine.secret(of: "a") }] {
                let error = #expect(throws: KeychainError.self) { try attempt() }
                #expect(error?.code == .notAvailable)
                #expect(error?.message.contains("put back the keybag") == true)
            }
            #expect(try !engine.findings().isEmpty)
            try new.write(to: file)
            #expect(try Engine(keychain.configuration).secret(of: "a") == "secret")
        }
    }

    @Test("A generation of keys that does not exist costs the row that claims it, and no other")
    func editedGeneration() throws {
        try withKeychain { keychain in
            for account in ["a", "b", "c"] { try keychain.engine.add(.password(account)) }
            let store = ClosedStore(directory: keychain.directory)
            try store.edit("UPDATE item SET generation = 99 WHERE id = 2")
            #expect(try keychain.engine.find(.password(limit: .all)).count == 2)
            #expect(try keychain.engine.findings().count == 1)
            try store.edit("UPDATE home SET generation = 99")
            let error = #expect(throws: KeychainError.self) { try keychain.engine.find(.password(limit: .all)) }
            #expect(error?.code == .notAvailable)
            #expect(try !keychain.engine.findings().isEmpty)
        }
    }
}

extension TestKeychain {
    /// The files that outlast the processes, all but SQLite's own log and index.
    fileprivate var lastingFiles: [String: Data] {
        get throws {
            let store = directory.appendingPathComponent("store")
            var files: [String: Data] = [:]
            for name in ["keychain.db", "keybag", "attempts"] {
                let file = store.appendingPathComponent(name)
                // Reading from a pipe that nobody writes to would wait for ever.
                let type = (try? FileManager.default.attributesOfItem(atPath: file.path))?[.type] as? FileAttributeType
                files[name] = type == .typeRegular ? try Data(contentsOf: file) : nil
            }
            files["device-key"] = try Data(contentsOf: directory.appendingPathComponent("device/device-key"))
            return files
        }
    }

    /// Of another store, under the same device key.
    fileprivate func foreignKeybag() throws -> Data {
        let deviceKey = try deviceKey
        return try Keybag.make(storeID: UUID(), deviceKey: deviceKey, randomness: SystemRandomness())
            .encoded(deviceKey: deviceKey)
    }
}

extension Data {
    fileprivate func withVersion(_ version: UInt8) -> Data {
        var bytes = self
        bytes[9] = version
        return bytes
    }
}
