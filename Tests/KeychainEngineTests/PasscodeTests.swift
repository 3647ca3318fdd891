import Foundation
import KeychainCrypto
import KeychainModel
import KeychainTestSupport
import Testing

@testable import KeychainEngine

/// What setting, changing and removing a passcode does to a store.
@Suite struct PasscodeTests {
    @Test("Without a passcode a store is unlocked, and locking says why it does nothing")
    func withoutPasscode() throws {
        try withKeychain { keychain throws in
            #expect(try keychain.lockStatus.state == .unlocked)
            #expect(try keychain.lockStatus.hasPasscode == false)
            let error = #expect(throws: KeychainError.self) { try keychain.lock() }
            #expect(error?.code == .noPasscode)
            #expect(error?.message.contains("never locked") == true)
        }
    }

    @Test("A first passcode brings every row under new keys, and everything is found as before")
    func firstPasscode() throws {
        try withKeychain { keychain throws in
            let engine = keychain.engine
            for protection in Protection.withoutPasscode {
                try engine.add(.password(protection.rawValue, secret: "of \(protection)", protection: protection))
            }
            let before = try engine.wrappedKeys()
            try keychain.setPasscode("1234")
            let after = try engine.wrappedKeys()
            #expect(before.count == Protection.withoutPasscode.count)
            #expect(before.keys == after.keys)
            for (row, keys) in before {
                #expect(after[row]?.metadata != keys.metadata)
                #expect(after[row]?.secret != keys.secret)
                #expect(after[row]?.tokens != keys.tokens)
            }
            for protection in Protection.withoutPasscode {
                #expect(try engine.secret(of: protection.rawValue) == "of \(protection)")
            }
            #expect(try engine.findings().isEmpty)
            #expect(try keychain.lockStatus.isRekeying == false)
        }
    }

    @Test("A change of passcode alters no row, a change with new keys every row", arguments: [false, true])
    func change(rekey: Bool) throws {
        try withKeychain { keychain throws in
            let engine = keychain.engine
            for number in 0..<20 { try engine.add(.password("\(number)")) }
            try keychain.setPasscode("old")
            let before = try engine.wrappedKeys()
            let database = try engine.databaseRows()
            try engine.changePasscode(from: "old", to: "new", rekey: rekey)
            let after = try engine.wrappedKeys()
            if rekey {
                for (row, keys) in before { #expect(after[row]?.metadata != keys.metadata) }
            } else {
                #expect(try engine.databaseRows() == database)
            }
            #expect(try engine.secret(of: "7") == "secret")
            try keychain.lock()
            #expect(throws: KeychainError.self) { try keychain.unlock("old") }
            try keychain.unlock("new")
            #expect(try engine.secret(of: "7") == "secret")
            #expect(try engine.findings().isEmpty)
        }
    }

    @Test("A change leaves the store as locked as it was")
    func changeWhileLocked() throws {
        try withKeychain { keychain throws in
            try keychain.engine.add(.password("a"))
            try keychain.setPasscode("old")
            try keychain.lock()
            try keychain.engine.changePasscode(from: "old", to: "new")
            #expect(try keychain.lockStatus.state == .locked)
            keychain.restart()
            try keychain.engine.changePasscode(from: "new", to: "old")
            #expect(try keychain.lockStatus.state == .neverUnlocked)
        }
    }

    @Test("Removing the passcode destroys what needs one, and nothing else")
    func remove() throws {
        try withKeychain { keychain throws in
            let engine = keychain.engine
            try keychain.setPasscode("1234")
            for protection in Protection.allCases {
                try engine.add(.password(protection.rawValue, protection: protection))
            }
            _ = try engine.handle(.passcode(.remove(old: .of("1234"))), from: caller)
            for protection in Protection.withoutPasscode {
                #expect(try engine.secret(of: protection.rawValue) == "secret")
            }
            let lost = ItemQuery.password([.account: .text("akpu")])
            #expect(throws: KeychainError.self) { try engine.find(lost) }
            #expect(try engine.databaseRows().count == Protection.withoutPasscode.count)
            #expect(try keychain.lockStatus.state == .unlocked)
            #expect(try engine.findings().isEmpty)
            let error = #expect(throws: KeychainError.self) {
                try engine.add(.password("new", protection: .whenPasscodeSetThisDeviceOnly))
            }
            #expect(error?.code == .authenticationFailed)
        }
    }

    @Test("A copy of the keybag from before the passcode opens nothing that is written now")
    func oldKeybag() throws {
        try withKeychain { keychain throws in
            let engine = keychain.engine
            let file = keychain.directory.appendingPathComponent("store/keybag")
            try engine.add(.password("a"))
            let old = try Data(contentsOf: file)
            try keychain.setPasscode("1234")
            try engine.add(.password("b"))
            let keybag = try Data(contentsOf: file)
            try old.write(to: file)
            // A program that opens the store with the old copy and the device key.
            let thief = try Engine(keychain.configuration)
            for account in ["a", "b"] {
                #expect(throws: KeychainError.self) { try thief.secret(of: account) }
            }
            try keybag.write(to: file)
        }
    }

    @Test("The keys of the old generation leave the keybag when no row needs them")
    func oldGenerationGoes() throws {
        try withKeychain { keychain throws in
            for number in 0..<3 { try keychain.engine.add(.password("\(number)")) }
            let reply = try keychain.engine.handle(.passcode(.set(.of("1234"))), from: caller)
            #expect(try keychain.keybag.keyGenerations == [2, 1])
            #expect(try keychain.keybag.entries.allSatisfy { $0.wrap == .passcode || $0.key.tier == .always })
            try keychain.engine.finishRekey(after: reply)
            #expect(try keychain.keybag.keyGenerations == [2])
        }
    }

    @Test("A real store's passcode costs 128 MiB and 2^17 rounds of eight blocks")
    func cost() throws {
        try withTemporaryDirectory { directory in
            var configuration = EngineConfiguration.test(in: directory)
            configuration.passcodeCost =
                EngineConfiguration(storeDirectory: directory, deviceKeyDirectory: directory).passcodeCost
            let keychain = TestKeychain(directory: directory, clock: TestClock(), engine: try Engine(configuration))
            defer { keychain.engine.withdrawKeys() }
            try keychain.setPasscode("1234")
            let parameters = try #require(try keychain.keybag.passcode)
            #expect(parameters.cost == 17 && parameters.blockSize == 8 && parameters.parallelism == 1)
            #expect(parameters.salt.count == 32 && parameters.salt != Data(count: 32))
        }
    }

    @Test("A keybag whose passcode takes less work than a real one is refused before any passcode is tried")
    func cheapKeybag() throws {
        try withKeychain { keychain in
            try keychain.engine.add(.password("a"))
            try keychain.setPasscode("1234")
            let attempts = keychain.directory.appendingPathComponent("store/attempts")
            let before = try Data(contentsOf: attempts)
            var configuration = keychain.configuration
            configuration.passcodeCost += 1
            let error = #expect(throws: KeychainError.self) { try Engine(configuration) }
            #expect(error?.code == .notAvailable && error?.message.contains("less work") == true)
            // An engine that had it open looks at the file again for each passcode.
            _ = try keychain.engine.handle(.lock(.now), from: caller)
            let bag = try keychain.keybag
            var cheap = bag
            cheap.passcode?.blockSize = 1
            cheap.generation += 1
            try KeybagFile(keychain.configuration).replace(with: cheap, deviceKey: keychain.engine.keys.deviceKey)
            #expect(throws: KeychainError.self) { try keychain.unlock("1234") }
            #expect(try Data(contentsOf: attempts) == before)
        }
    }

    @Test("An old keybag and its passcode open nothing after all keys were renewed")
    func oldPasscodeAfterRekey() throws {
        try withKeychain { keychain in
            let file = keychain.directory.appendingPathComponent("store/keybag")
            try keychain.engine.add(.password("a"))
            try keychain.setPasscode("old")
            let old = try Data(contentsOf: file)
            try keychain.engine.changePasscode(from: "old", to: "new", rekey: true)
            try old.write(to: file)
            keychain.restart()
            let thief = try Engine(keychain.configuration)
            _ = try thief.handle(.unlock(.of("old")), from: caller)
            #expect(throws: KeychainError.self) { try thief.secret(of: "a") }
        }
    }

    @Test("Nobody reads class keys from the keybag without the passcode")
    func wraps() throws {
        try withKeychain { keychain throws in
            try keychain.setPasscode("1234")
            let bag = try keychain.keybag
            #expect(bag.entries.count == KeyName.all.count)
            for entry in bag.entries {
                #expect(entry.wrap == (entry.key.tier == .always ? .deviceKey : .passcode))
            }
            let keys = try bag.unwrap(deviceKey: try keychain.deviceKey)
            #expect(keys[.whenUnlocked].names.isEmpty && keys[.afterFirstUnlock].names.isEmpty)
        }
    }
}

extension Protection {
    static var withoutPasscode: [Protection] { allCases.filter { $0 != .whenPasscodeSetThisDeviceOnly } }
}

extension TestKeychain {
    var deviceKey: KeyMaterial {
        get throws {
            let bytes = try Data(contentsOf: directory.appendingPathComponent("device/device-key"))
            return try KeyMaterial { $0.copyBytes(from: bytes) }
        }
    }

    var keybag: Keybag {
        get throws {
            try Keybag(
                decoding: try Data(contentsOf: directory.appendingPathComponent("store/keybag")),
                deviceKey: try deviceKey)
        }
    }
}
