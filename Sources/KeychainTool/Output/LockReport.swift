internal import KeychainModel

extension LockStatus {
    /// Writes the lock's part of `status --json`, for the commands that change the lock.
    func writeJSON() throws { try Console.write(LockReport(status: self).json.text + "\n") }
}

/// The part of `status` on the lock, in words and as JSON.
struct LockReport {
    var status: LockStatus

    // MARK: Words

    func add(to lines: inout Lines) {
        guard status.hasPasscode else {
            lines.add("Lock", "never locked: there is no passcode ('keychainctl passcode set' sets one)")
            lines.add("", "Limit: a thief of the whole home directory reads everything.")
            return
        }
        lines.add(
            "Lock", stateInWords,
            emphasizing: status.state == .unlocked ? nil : String(stateInWords.prefix { $0 != ":" }))
        lines.add(
            "Passcode",
            "set: a thief of the switched-off disk reads what is accessible \"always\", and has to guess the passcode "
                + "for everything else")
        lines.add("Unlocking", placeInWords)
        lines.add("Watcher", watcherInWords, emphasizing: "Warning")
        lines.add("Idle limit", PasscodePolicy(status).idleLimitInWords)
        if status.erasesAfterTenFailures { lines.add("Erasure", PasscodePolicy(status).erasureInWords) }
        if status.failedAttempts > 0 { lines.add("Attempts", attemptsInWords) }
        if status.isRekeying {
            lines.add("Renewal", "not all keys are renewed yet: the next 'keychainctl unlock' goes on with it")
        }
    }

    private var stateInWords: String {
        switch status.state {
        case .unlocked: "unlocked: every item can be used"
        case .locked: "locked: what is accessible \"after first unlock\" or \"always\" can be used"
        case .neverUnlocked: "\(status.neverUnlocked): what is accessible \"always\" can be used"
        }
    }

    private var placeInWords: String {
        switch status.keyPlace {
        case .keyring: "serves every program of this user: the keys are in the kernel's keyring"
        case .daemon: "serves every program of this user: the keys are in keychaind's memory, until it ends"
        case .process:
            "serves only the program that does it: the kernel's keyring takes no keys here, so each keeps them itself"
        }
    }

    private var watcherInWords: String {
        status.isWatched
            ? "locks the keychain when the session is locked or the machine goes to sleep"
            : "none. Warning: \(status.warningOfNoWatcher)"
    }

    private var attemptsInWords: String {
        let count = status.failedAttempts == 1 ? "1 wrong passcode" : "\(status.failedAttempts) wrong passcodes"
        let wait = waitingSeconds == 0 ? "" : "; the next is looked at in \(DurationText.text(seconds: waitingSeconds))"
        return "\(count) since the last right one\(wait)"
    }

    /// The seconds are rounded up, so that an attempt at 0 is not too early.
    private var waitingSeconds: Int { Int(status.secondsUntilNextAttempt.rounded(.up)) }

    // MARK: JSON

    var json: JSONValue {
        .object(
            [
                ("state", .string(status.state.rawValue)),
                ("passcode", .boolean(status.hasPasscode)),
                ("keys", .string(status.keyPlace.rawValue)),
                ("watched", .boolean(status.isWatched)),
            ] + PasscodePolicy(status).json + [
                ("failedAttempts", .number(Int64(status.failedAttempts))),
                ("secondsUntilNextAttempt", .number(Int64(waitingSeconds))),
                ("rekeying", .boolean(status.isRekeying)),
            ])
    }
}
