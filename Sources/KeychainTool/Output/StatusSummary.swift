internal import KeychainModel

/// The short form of `status` for every day.
struct StatusSummary {
    /// nil: there is no store yet.
    var status: StoreStatus?
    var storePath: String
    var host: String

    var text: String {
        var lines = Lines()
        guard let status else {
            lines.add("Keychain", "there is none yet; the first 'add' makes it")
            lines.add("Store", storePath)
            lines.add("Host", host)
            return lines.text
        }
        let lock = LockSummary(status: status.lock)
        lines.add("Keychain", lock.state, emphasizing: lock.emphasizedState)
        lines.add("Items", Self.items(status))
        lines.add("Passcode", lock.passcode)
        lines.add("Locks", lock.locking, emphasizing: "nothing")
        lines.add("Host", host)
        lines.add("Store", storePath)
        if status.schemaVersion < status.knownSchemaVersion { lines.add("Version", status.versionInWords) }
        return lines.text
    }

    private static func items(_ status: StoreStatus) -> String {
        let counts = ItemClass.stored.map { ($0, status.itemCounts[$0] ?? 0) }.filter { $0.1 > 0 }
        return counts.isEmpty ? "none" : counts.map { $0.0.counted($0.1) }.joined(separator: ", ")
    }
}

extension LockStatus {
    /// The words name the start that took the keys away: a daemon starts without keys.
    var neverUnlocked: String { "not unlocked since \(keyPlace == .daemon ? "keychaind" : "the system") started" }
}

/// The state of the lock in short words.
struct LockSummary {
    var status: LockStatus

    var state: String {
        guard status.hasPasscode else { return "never locked: there is no passcode" }
        return switch status.state {
        case .unlocked: "unlocked"
        case .locked: "locked: what is accessible \"always\" or \"after first unlock\" opens"
        case .neverUnlocked: status.neverUnlocked
        }
    }

    /// nil: nothing needs attention.
    var emphasizedState: String? {
        status.hasPasscode && status.state == .unlocked ? nil : String(state.prefix { $0 != ":" })
    }

    var passcode: String {
        guard status.hasPasscode else { return "none: 'keychainctl passcode set' sets one" }
        let parts = [
            status.failedAttempts > 0
                ? "\(counted(status.failedAttempts, "wrong passcode")) since the last right one" : nil,
            status.isRekeying ? "'keychainctl unlock' goes on to renew all keys" : nil,
        ].compactMap(\.self)
        return "set" + parts.map { "; " + $0 }.joined()
    }

    var locking: String {
        guard status.hasPasscode else { return "never" }
        let ways = [
            status.isWatched ? "with the session and before sleep" : nil,
            status.idleLimit.map { "after \(DurationText.text(seconds: $0)) without use" },
        ].compactMap(\.self)
        let isDaemons = status.keyPlace == .daemon
        if ways.isEmpty {
            return "nothing locks it by itself"
                + (isDaemons ? ": keychaind has no systemd-logind" : " until 'keychainctl watch' runs")
        }
        return ways.joined(separator: ", ")
            + (status.isWatched
                ? ""
                : "; not with the session: " + (isDaemons ? "there is no systemd-logind" : "run 'keychainctl watch'"))
    }
}
