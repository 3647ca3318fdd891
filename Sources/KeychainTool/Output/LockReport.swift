internal import KeychainModel

/// The part of `status` on the lock, which the commands that change the lock print too.
extension LockStatus: Keyed {
    static let fields = [stateField] + details.map { $0.shown { $0.hasPasscode } }

    private static let stateField = Field<Self>(
        "state", "`never-unlocked` (since the system started), `unlocked`, `locked`", term: "Lock",
        words: { $0.stateInWords }
    ) { $0.state.rawValue }

    private static let details: [Field<Self>] = [
        Field(
            "passcode", "whether a passcode is set; without one the state is always `unlocked`", term: "Passcode",
            words: { _ in
                Words(
                    "set: a thief of the switched-off disk reads what is accessible \"always\", and has to guess the "
                        + "passcode for everything else")
            }
        ) { $0.hasPasscode },
        Field(
            "keys",
            "where unlocked keys are: `keyring`, the kernel's keyring of the user; `daemon`, the memory of keychaind; "
                + "`process`, each process by itself",
            term: "Unlocking", words: { Words($0.placeInWords) }
        ) { $0.keyPlace.rawValue },
        Field(
            "watched", "whether `keychainctl watch` runs, or a daemon hears of sleep and sessions", term: "Watcher",
            words: { Words($0.watcherInWords, emphasizing: "Warning") }
        ) { $0.isWatched },
        PasscodePolicy.limit.of { PasscodePolicy($0) },
        PasscodePolicy.afterLock.of { PasscodePolicy($0) }
            .shown { $0.timeAfterLock != PasscodePolicy.usualTimeAfterLock },
        Field(
            "timeLeftAfterLock",
            "seconds that are left of that time, or null if the keychain is unlocked or the time is over",
            term: "Open still",
            words: { status in
                status.timeLeftAfterLock.map {
                    Words("files of the class complete-when-user-inactive, for \(DurationText.text(seconds: $0))")
                }
            }
        ) { $0.timeLeftAfterLock },
        PasscodePolicy.erasure.of { PasscodePolicy($0) }.shown { $0.erasesAfterTenFailures },
        Field(
            "failedAttempts", "wrong passcodes since the last right one", term: "Attempts",
            words: { $0.failedAttempts > 0 ? Words($0.attemptsInWords) : nil }
        ) { $0.failedAttempts },
        Field("secondsUntilNextAttempt", "a whole number; 0 if a passcode may be tried now") { $0.waitingSeconds },
        Field(
            "rekeying", "whether a renewal of all keys is not finished", term: "Renewal",
            words: {
                $0.isRekeying
                    ? "not all keys are renewed yet: the next 'keychainctl unlock' goes on with it" : nil
            }
        ) { $0.isRekeying },
    ]

    private var stateInWords: Words {
        guard hasPasscode else {
            return Words(
                "never locked: there is no passcode ('keychainctl passcode set' sets one)",
                remarks: ["Limit: a thief of the whole home directory reads everything."])
        }
        let text =
            switch state {
            case .unlocked: "unlocked: every item can be used"
            case .locked: "locked: what is accessible \"after first unlock\" or \"always\" can be used"
            case .neverUnlocked: "\(neverUnlocked): what is accessible \"always\" can be used"
            }
        return Words(text, emphasizing: isOpen ? nil : text.untilColon)
    }

    private var placeInWords: String {
        switch keyPlace {
        case .keyring: "serves every program of this user: the keys are in the kernel's keyring"
        case .daemon: "serves every program of this user: the keys are in keychaind's memory, until it ends"
        case .process:
            "serves only the program that does it: the kernel's keyring takes no keys here, so each keeps them itself"
        }
    }

    private var watcherInWords: String {
        isWatched
            ? "locks the keychain when the session is locked or the machine goes to sleep"
            : "none. Warning: \(warningOfNoWatcher)"
    }

    private var attemptsInWords: String {
        let wait = waitingSeconds == 0 ? "" : "; the next is looked at in \(DurationText.text(seconds: waitingSeconds))"
        return "\(counted(failedAttempts, "wrong passcode")) since the last right one\(wait)"
    }

    /// The seconds are rounded up, so that an attempt at 0 is not too early.
    private var waitingSeconds: Int { Int(secondsUntilNextAttempt.rounded(.up)) }
}

// The short words for every day.
extension LockStatus {
    /// Whether there is a passcode, and every item can be used.
    var isOpen: Bool { hasPasscode && state == .unlocked }

    var stateInShort: String {
        guard hasPasscode else { return "never locked: there is no passcode" }
        return switch state {
        case .unlocked: "unlocked"
        case .locked: "locked: what is accessible \"always\" or \"after first unlock\" opens"
        case .neverUnlocked: neverUnlocked
        }
    }

    /// The words name the start that took the keys away: a daemon starts without keys.
    private var neverUnlocked: String {
        "not unlocked since \(keyPlace == .daemon ? "keychaind" : "the system") started"
    }

    var passcodeInShort: String {
        guard hasPasscode else { return "none: 'keychainctl passcode set' sets one" }
        let attempts = "; \(counted(failedAttempts, "wrong passcode")) since the last right one"
        return "set" + (failedAttempts > 0 ? attempts : "")
            + (isRekeying ? "; 'keychainctl unlock' goes on to renew all keys" : "")
    }

    var lockingInShort: String {
        guard hasPasscode else { return "never" }
        let idle = idleLimit.map { "after \(DurationText.text(seconds: $0)) without use" }
        if isWatched { return "with the session and before sleep" + (idle.map { ", " + $0 } ?? "") }
        let isDaemons = keyPlace == .daemon
        if let idle {
            return "\(idle); not with the session: "
                + (isDaemons ? "there is no systemd-logind" : "run 'keychainctl watch'")
        }
        return "nothing locks it by itself"
            + (isDaemons ? ": keychaind has no systemd-logind" : " until 'keychainctl watch' runs")
    }
}

extension String {
    var untilColon: String { String(prefix { $0 != ":" }) }
}
