import Foundation
import KeychainCrypto
import KeychainEngine
import KeychainModel
import KeychainTestSupport
import Testing

/// Files that were made under keys that have been renewed since: nobody looks for them, and they open all the same.
@Suite struct FileKeyRenewalTests {
    @Test("Files from before the first passcode open by the passcode afterwards", arguments: KeychainHost.allCases)
    func firstPasscode(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            let keys = try keychain.handler.makeFileKeys()
            try keychain.setPasscode("1234")
            #expect(try keychain.keybag.retired.count == 4 && keychain.keybag.keyGenerations == [2])
            expectKeys(keys, in: keychain.handler)
            try keychain.lock()
            expectKeys(keys, in: keychain.handler) { $0.isOfTierA ? .interactionNotAllowed : nil }
            keychain.restart()
            expectKeys(keys, in: keychain.handler) { $0.wrapped.fileClass == .always ? nil : .interactionNotAllowed }
            try keychain.unlock("1234")
            expectKeys(keys, in: keychain.handler)
        }
    }

    @Test(
        "Files of every generation open after renewals, changes and the removal of the passcode, and after another one",
        arguments: KeychainHost.allCases)
    func renewals(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            var keys = try keychain.handler.makeFileKeys()
            try keychain.setPasscode("1")
            for passcode in ["2", "3"] {
                keys += try keychain.handler.makeFileKeys()
                let old = passcode == "2" ? "1" : "2"
                try keychain.handler.changePasscode(from: old, to: passcode, rekey: true)
                expectKeys(keys, in: keychain.handler)
            }
            keys += try keychain.handler.makeFileKeys()
            #expect(Set(keys.map(\.wrapped.generation)) == [1, 2, 3, 4])
            try keychain.handler.changePasscode(from: "3", to: "4")
            let policy = PasscodePolicy(idleLimit: 1000)
            _ = try keychain.handler.handle(.passcode(.setPolicy(policy, passcode: .of("4"))), from: .owner)
            expectKeys(keys, in: keychain.handler)
            #expect(try keychain.keybag.retired.count == 12)
            _ = try keychain.handler.handle(.passcode(.remove(old: .of("4"))), from: .owner)
            expectKeys(keys, in: keychain.handler)
            keys += try keychain.handler.makeFileKeys()
            try keychain.setPasscode("5")
            expectKeys(keys, in: keychain.handler)
            try keychain.lock()
            expectKeys(keys, in: keychain.handler) { $0.isOfTierA ? .interactionNotAllowed : nil }
            // 878 bytes with a passcode, and 232 for each former generation.
            let bytes = try Data(contentsOf: keychain.directory.appendingPathComponent("store/keybag"))
            #expect(bytes.count == 878 + 4 * 232)
            try keychain.unlock("5")
            #expect(try keychain.handler.lockStatus().isRekeying == false)
        }
    }

    @Test(
        "While keys are renewed, files of both generations open, and new ones are made under the newest",
        arguments: KeychainHost.allCases)
    func halfWay(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            for number in 0..<510 { try keychain.engine.add(.password("\(number)")) }
            var keys = try keychain.handler.makeFileKeys()
            var reply = try keychain.handler.handle(.passcode(.set(.of("1"))), from: .owner)
            reply = try keychain.handler.handle(.rekeyStep, from: .owner)
            #expect(try keychain.keybag.keyGenerations == [2, 1])
            keys += try keychain.handler.makeFileKeys()
            #expect(keys.map(\.wrapped.generation) == [1, 1, 1, 1, 1, 2, 2, 2, 2, 2])
            expectKeys(keys, in: keychain.handler)
            try keychain.lock()
            expectKeys(keys, in: keychain.handler) { $0.isOfTierA ? .interactionNotAllowed : nil }
            try keychain.unlock("1")
            try keychain.handler.finishRekey(after: reply)
            expectKeys(keys, in: keychain.handler)
        }
    }

    @Test("A class that is set again is under the newest key", arguments: KeychainHost.carriers)
    func newestKey(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            let keys = try keychain.handler.makeFileKeys()
            try keychain.setPasscode("1234")
            for key in keys {
                let made = try keychain.handler.fileKey(.rewrap(key.wrapped, key.wrapped.fileClass))
                #expect(made.wrapped.generation == 2 && made.key.copyData() == key.key.copyData())
            }
        }
    }

    @Test(
        "After the erasure files of classes A, B and C are lost, those of class D open, and new ones are made",
        arguments: [false, true])
    func erasure(isRekeying: Bool) throws {
        for host in KeychainHost.carriers {
            try withKeychain(host) { keychain in
                for number in 0..<510 { try keychain.engine.add(.password("\(number)")) }
                var keys = try keychain.handler.makeFileKeys()
                try keychain.setPasscode("right")
                keys += try keychain.handler.makeFileKeys()
                if isRekeying {
                    let change = PasscodeRequest.change(old: .of("right"), new: .of("right"), rekey: true)
                    _ = try keychain.handler.handle(.passcode(change), from: .owner)
                    keys += try keychain.handler.makeFileKeys()
                }
                let policy = PasscodePolicy(erasesAfterTenFailures: true)
                _ = try keychain.handler.handle(.passcode(.setPolicy(policy, passcode: .of("right"))), from: .owner)
                for attempt in 0..<10 {
                    #expect(throws: KeychainError.self) { try keychain.unlock("wrong \(attempt)") }
                    keychain.clock.advance(by: 60 * 60)
                }
                #expect(try !keychain.lockStatus.hasPasscode)
                #expect(Set(try keychain.keybag.retired.map(\.key.number)) == [4])
                expectKeys(keys, in: keychain.handler) { $0.wrapped.fileClass == .always ? nil : .noSuchKeychain }
                let new = try keychain.handler.makeFileKeys()
                expectKeys(new, in: keychain.handler)
                try keychain.setPasscode("afresh")
                expectKeys(keys + new, in: keychain.handler) {
                    $0.wrapped.fileClass == .always || $0.wrapped.generation == new[0].wrapped.generation
                        ? nil : .noSuchKeychain
                }
            }
        }
    }

    @Test("A process that is killed while it renews keys leaves every file's key openable", arguments: 0..<4)
    func killed(round: Int) throws {
        for work in ["set", "change"] {
            try withKeychain { keychain in
                var keys = try keychain.engine.makeFileKeys()
                if work == "change" { try keychain.setPasscode("1234") }
                keys += try keychain.engine.makeFileKeys()
                for number in 0..<510 { try keychain.engine.add(.password("\(number)")) }
                let agent = try AgentProcess("passcode", keychain.directory.path, work, "1234")
                _ = try agent.killAfter(bytes: round)
                keychain.engine.withdrawKeys()
                let engine = try Engine(keychain.configuration)
                if try engine.lockStatus().hasPasscode { _ = try engine.handle(.unlock(.of("1234")), from: caller) }
                expectKeys(keys, in: engine)
                keys += try engine.makeFileKeys()
                try engine.finishRekey(after: try engine.handle(.rekeyStep, from: caller))
                expectKeys(keys, in: engine)
                #expect(try keychain.keybag.keyGenerations.count == 1)
            }
        }
    }

    @Test("A keybag with retired keys of which any byte is changed is refused", arguments: [0, 1, 2])
    func flips(part: Int) throws {
        try withKeychain { keychain in
            let keys = try keychain.engine.makeFileKeys()
            try keychain.setPasscode("1234")
            let file = keychain.directory.appendingPathComponent("store/keybag")
            let bytes = try Data(contentsOf: file)
            for place in stride(from: part, to: bytes.count, by: 3) {
                var changed = bytes
                changed[place] ^= 0x10
                try changed.write(to: file)
                let error = #expect(throws: KeychainError.self) { _ = try Engine(keychain.configuration) }
                #expect(error?.code == .notAvailable, "byte \(place)")
            }
            try bytes.write(to: file)
            expectKeys(keys, in: keychain.engine)
        }
    }

    @Test("An older keybag that was put back says so of files that are newer than it")
    func oldKeybag() throws {
        try withKeychain { keychain in
            let keys = try keychain.engine.makeFileKeys()
            let file = keychain.directory.appendingPathComponent("store/keybag")
            let bytes = try Data(contentsOf: file)
            try keychain.setPasscode("1234")
            let new = try keychain.engine.makeFileKeys()
            try bytes.write(to: file)
            keychain.engine.withdrawKeys()
            let engine = try Engine(keychain.configuration)
            expectKeys(keys + new, in: engine) { $0.wrapped.generation == 1 ? nil : .noSuchKeychain }
        }
    }
}

extension FileKey {
    fileprivate var isOfTierA: Bool { wrapped.fileClass.tier == .whenUnlocked }
}
