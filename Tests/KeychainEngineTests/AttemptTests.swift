import Foundation
import KeychainCrypto
import KeychainModel
import KeychainTestSupport
import Testing

@testable import KeychainEngine

/// Wrong passcodes: how many may be tried, and what survives.
@Suite struct AttemptTests {
    private func withPasscode(_ body: (TestKeychain) throws -> Void) throws {
        try withKeychain { keychain throws in
            try keychain.setPasscode("right")
            try keychain.lock()
            try body(keychain)
        }
    }

    /// Tries a passcode that was not tried before.
    private func fail(_ keychain: TestKeychain, _ passcode: String = UUID().uuidString) {
        let error = #expect(throws: KeychainError.self) { try keychain.unlock(passcode) }
        #expect(error?.code == .authenticationFailed)
    }

    @Test("The waits are none up to the fourth, then 1, 5, 15, 15 and 60 minutes")
    func delays() throws {
        try withPasscode { keychain throws in
            var waits: [Double] = []
            for _ in 0..<11 {
                fail(keychain)
                let wait = try keychain.lockStatus.secondsUntilNextAttempt
                waits.append(wait / 60)
                keychain.clock.advance(by: wait)
            }
            #expect(waits == [0, 0, 0, 0, 1, 5, 15, 15, 60, 60, 60])
        }
    }

    @Test("While one has to wait even the right passcode is not looked at, and nothing is counted")
    func waiting() throws {
        try withPasscode { keychain throws in
            for _ in 0..<5 { fail(keychain) }
            for _ in 0..<20 { fail(keychain, "right") }
            #expect(try keychain.lockStatus.failedAttempts == 5)
            keychain.clock.advance(by: 59)
            fail(keychain, "right")
            keychain.clock.advance(by: 1)
            try keychain.unlock("right")
            #expect(try keychain.lockStatus.failedAttempts == 0)
        }
    }

    @Test("The same wrong passcode again counts once")
    func sameAgain() throws {
        try withPasscode { keychain throws in
            for _ in 0..<30 { fail(keychain, "typo") }
            #expect(try keychain.lockStatus.failedAttempts == 1)
            fail(keychain, "other")
            #expect(try keychain.lockStatus.failedAttempts == 2)
        }
    }

    @Test("An attempt is on the disk before the passcode is tried, where a kill leaves it")
    func countedBefore() throws {
        try withPasscode { keychain throws in
            let attempts = keychain.engine.keys.attempts
            var countMeanwhile: Int?
            _ = try attempts.attempt { () throws(KeychainError) -> (fingerprint: Data, result: Void?) in
                countMeanwhile = try attempts.status().failures
                return (Data(count: 32), nil)
            }
            #expect(countMeanwhile == 1)
        }
    }

    @Test("The count survives another process, and the whole wait runs anew after a restart")
    func survives() throws {
        try withPasscode { keychain throws in
            for _ in 0..<6 {
                fail(keychain)
                keychain.clock.advance(by: try keychain.lockStatus.secondsUntilNextAttempt)
            }
            fail(keychain)
            keychain.clock.advance(by: 10 * 60)
            let other = try Engine(keychain.configuration)
            #expect(try other.lockStatus().failedAttempts == 7)
            #expect(try other.lockStatus().secondsUntilNextAttempt == 5 * 60)
            keychain.restart()
            #expect(try other.lockStatus().failedAttempts == 7)
            #expect(try other.lockStatus().secondsUntilNextAttempt == 15 * 60)
        }
    }

    @Test("Every use of a passcode is an attempt")
    func everyUse() throws {
        try withPasscode { keychain throws in
            let uses: [PasscodeRequest] = [
                .change(old: .of("a"), new: .of("n"), rekey: false), .remove(old: .of("b")),
                .setPolicy(PasscodePolicy(), passcode: .of("c")),
            ]
            for use in uses {
                let error = #expect(throws: KeychainError.self) {
                    try keychain.engine.handle(.passcode(use), from: caller)
                }
                #expect(error?.code == .authenticationFailed)
            }
            #expect(try keychain.lockStatus.failedAttempts == 3)
        }
    }

    @Test("A damaged count is the longest wait, and never leads to an erasure")
    func damagedCount() throws {
        try withPasscode { keychain throws in
            let policy = PasscodePolicy(erasesAfterTenFailures: true)
            _ = try keychain.engine.handle(.passcode(.setPolicy(policy, passcode: .of("right"))), from: caller)
            let file = keychain.directory.appendingPathComponent("store/attempts")
            var bytes = try Data(contentsOf: file)
            bytes[24] ^= 1
            try bytes.write(to: file)
            fail(keychain, "right")
            #expect(try keychain.lockStatus.secondsUntilNextAttempt == 60 * 60)
            for _ in 0..<5 {
                keychain.clock.advance(by: 60 * 60)
                fail(keychain)
            }
            keychain.clock.advance(by: 60 * 60)
            try keychain.unlock("right")
        }
    }

    @Test("After ten wrong passcodes everything behind the passcode is gone, if its owner chose so")
    func erases() throws {
        try withKeychain { keychain throws in
            try keychain.setPasscode("right")
            for protection in Protection.allCases {
                try keychain.engine.add(.password(protection.rawValue, protection: protection))
            }
            let policy = PasscodePolicy(erasesAfterTenFailures: true)
            _ = try keychain.engine.handle(.passcode(.setPolicy(policy, passcode: .of("right"))), from: caller)
            let old = try keychain.keybag.entries.filter { $0.key.tier != .always }.map(\.wrappedKey)
            for attempt in 1...10 {
                #expect(try keychain.lockStatus.hasPasscode, "attempt \(attempt)")
                fail(keychain)
                keychain.clock.advance(by: try keychain.lockStatus.secondsUntilNextAttempt)
            }
            let status = try keychain.lockStatus
            #expect(!status.hasPasscode && status.state == .unlocked && status.failedAttempts == 0)
            let left = try keychain.engine.find(.password(limit: .all))
            #expect(Set(left.map(\.accessControl.protection)) == [.always, .alwaysThisDeviceOnly])
            #expect(try keychain.engine.databaseRows().count == 2)
            let new = try keychain.keybag.entries.map(\.wrappedKey)
            #expect(old.allSatisfy { !new.contains($0) })
            try keychain.engine.add(.password("afresh"))
            #expect(try keychain.engine.findings().isEmpty)
        }
    }

    @Test("Without that choice ten wrong passcodes destroy nothing")
    func keeps() throws {
        try withPasscode { keychain throws in
            for _ in 0..<12 {
                fail(keychain)
                keychain.clock.advance(by: 60 * 60)
            }
            try keychain.unlock("right")
        }
    }

    /// Each guesser is killed as soon as it says that it is about to try, or has tried; a guess that is cut short is
    /// counted all the same.
    @Test("Twenty processes that guess at once, and are killed at any moment, get no guess more than the table allows")
    func parallelGuesses() throws {
        try withPasscode { keychain throws in
            let guessers = try (0..<20).map { try AgentProcess("guess", keychain.directory.path, "wrong-\($0)", "4") }
            var tried = 0
            for (number, guesser) in guessers.enumerated() {
                let lines = number % 2 == 0 ? try guesser.killAfter(bytes: 8) : try guesser.finish().lines
                tried += lines.filter { $0 == "wrong" }.count
            }
            let status = try Engine(.test(in: keychain.directory, clock: SystemClock())).lockStatus()
            #expect(status.failedAttempts == 5)
            #expect(tried <= 5)
            #expect(status.secondsUntilNextAttempt > 0)
            let last = try AgentProcess("guess", keychain.directory.path, "right", "1").finish()
            #expect(last.lines == ["waiting"])
        }
    }
}
