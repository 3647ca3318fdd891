import Foundation
import KeychainModel
import Testing

@testable import KeychainTool

/// The parts of the lock's commands that need no keychain.
@Suite struct LockOutputTests {
    private static let status = LockStatus(
        state: .locked, hasPasscode: true, keyPlace: .process, isWatched: true, idleLimit: 600,
        erasesAfterTenFailures: true, failedAttempts: 6, secondsUntilNextAttempt: 89.2, isRekeying: true, epoch: 7,
        timeAfterLock: 3600, timeLeftAfterLock: 90)

    private func text(_ status: LockStatus) -> String {
        var lines = Lines()
        status.add(to: &lines)
        // As one line, since where it is folded does not matter here.
        return lines.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    private func lines(_ input: String, _ names: [String]) throws -> [Data] {
        try PasscodeInput.lines(of: SecretBytes(copying: Data(input.utf8)), names).map { $0.copyData() }
    }

    @Test("Input is split at newlines alone, and the last line needs none")
    func splitsLines() throws {
        for input in ["one\n two\r\n", "one\n two\r"] {
            #expect(try lines(input, ["A", "B"]) == [Data("one".utf8), Data(" two\r".utf8)])
        }
        #expect(try lines("\n\n", ["A", "B"]) == [Data(), Data()])
    }

    @Test("Too few lines and too many say what was expected", arguments: ["", "one", "one\n", "1\n2\n3", "1\n2\n\n"])
    func wrongNumberOfLines(input: String) {
        let error = #expect(throws: KeychainError.self) { try lines(input, ["Old passcode", "New passcode"]) }
        #expect(error?.code == .parameter)
        #expect(error?.message.contains("2 lines were expected: old passcode, new passcode") == true)
        if input.isEmpty {
            let one = #expect(throws: KeychainError.self) { try lines(input, ["Passcode"]) }
            #expect(
                one?.message
                    == "standard input has 0 lines, and 1 line was expected: passcode; nothing was changed")
        }
    }

    @Test(
        "An idle limit is a number with its unit, or never",
        arguments: [
            ("90s", 90), ("10m", 600), ("2h", 7200), ("1d", 86_400), ("4294967295s", 4_294_967_295), ("never", nil),
        ] as [(String, Int?)])
    func idleLimit(argument: String, seconds: Int?) throws {
        #expect(try #require(IdleLimit(argument: argument)).seconds == seconds)
    }

    @Test(
        "Anything else is no idle limit",
        arguments: ["", "10", "m", "0s", "-1m", "+1m", "1.5h", "10 m", "4294967296s", "99999999999999999999d", "1w"])
    func noIdleLimit(argument: String) {
        #expect(IdleLimit(argument: argument) == nil)
    }

    @Test("A time after a lock is up to a day, and may be none")
    func timeAfterLock() {
        for (argument, seconds) in [("0s", 0), ("90s", 90), ("10m", 600), ("1d", 86_400)] {
            #expect(TimeAfterLock(argument: argument)?.seconds == seconds)
        }
        for argument in ["", "0", "never", "-1s", "2d", "86401s"] {
            #expect(TimeAfterLock(argument: argument) == nil, "\(argument)")
        }
    }

    @Test("Lengths of time are told in units, without those that are none")
    func durations() {
        #expect(DurationText.text(seconds: 0) == "0 seconds")
        #expect(DurationText.text(seconds: 61) == "1 minute 1 second")
        #expect(DurationText.text(seconds: 600) == "10 minutes")
        #expect(DurationText.text(seconds: 93_600) == "1 day 2 hours")
    }

    @Test("A line of progress always covers the one before it")
    func progress() {
        let texts = [0, 1, 99, 1000].map { ProgressLine.text("Work", [("", $0, 1000)]) }
        #expect(Set(texts.map(\.count)).count == 1)
        #expect(texts[0].hasSuffix("   0/1000    0%"))
        #expect(texts[3].hasSuffix("1000/1000  100%"))
        #expect(ProgressLine.text("Work", [("", 0, 0)]).hasSuffix("100%"))
    }

    @Test("Every state of the lock is told in words, with what was tried and what is unfinished")
    func words() {
        let text = text(Self.status)
        for part in [
            "locked: what is accessible", "guess the passcode", "takes no keys here", "goes to sleep",
            "10 minutes without use", "stay open for 1 hour", "when-user-inactive, for 1 minute 30 seconds",
            "ten wrong passcodes", "6 wrong passcodes", "1 minute 30 seconds",
            "next 'keychainctl unlock'",
        ] {
            #expect(text.contains(part), "\(part)")
        }
        var other = Self.status
        other.state = .neverUnlocked
        other.keyPlace = .keyring
        other.isWatched = false
        let otherText = self.text(other)
        #expect(otherText.contains("not unlocked since the system started"))
        #expect(otherText.contains("every program of this user"))
        #expect(otherText.contains("Warning: nothing locks") && otherText.contains("'keychainctl watch'"))
        other.keyPlace = .daemon
        let daemonText = self.text(other)
        #expect(daemonText.contains("not unlocked since keychaind started"))
        #expect(daemonText.contains("no systemd-logind") && !daemonText.contains("keychainctl watch"))
    }

    @Test("Without a passcode nothing is told but that, and what it means")
    func wordsWithoutPasscode() {
        var status = Self.status
        status.hasPasscode = false
        let text = text(status)
        #expect(text.contains("never locked"))
        #expect(text.contains("reads everything"))
        #expect(!text.contains("Watcher"))
    }

    @Test("The lock's JSON has every key that is documented, in whole seconds rounded up")
    func json() {
        #expect(
            Self.status.json.text.split(whereSeparator: \.isWhitespace).joined()
                == #"{"state":"locked","passcode":true,"keys":"process","watched":true,"idleLimit":600,"#
                + #""timeAfterLock":3600,"timeLeftAfterLock":90,"#
                + #""eraseAfterTen":true,"failedAttempts":6,"secondsUntilNextAttempt":90,"rekeying":true}"#)
        var status = Self.status
        status.idleLimit = nil
        status.state = .neverUnlocked
        status.timeLeftAfterLock = nil
        let text = status.json.text
        #expect(text.contains(#""idleLimit": null"#) && text.contains(#""timeLeftAfterLock": null"#))
        #expect(text.contains(#""state": "never-unlocked""#))
    }
}
