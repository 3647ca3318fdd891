package import KeychainModel

/// The findings on a store that cannot be opened as it should.
extension StoreFinding {
    package static func incomplete(_ missing: String) -> StoreFinding {
        if missing == "keybag" {
            return StoreFinding(
                .damage, "the database has no keybag: the store's making was cut short, or the file keybag was lost",
                advice: "if there were items, put keybag back from a backup, since nothing opens without it; "
                    + "otherwise the next command that uses it completes the store")
        }
        return StoreFinding(
            .damage, "the keybag has no database: the file \(missing) was lost",
            advice: "put \(missing) back from a backup; only if there is none, move keybag away to begin anew")
    }

    /// A finding if the right passcode has to wait because of wrong ones.
    package static func delay(_ status: LockStatus) -> [StoreFinding] {
        let seconds = Int(status.secondsUntilNextAttempt.rounded(.up))
        guard seconds > 0 else { return [] }
        return [
            StoreFinding(
                .note, "after wrong passcodes none is tried for \(seconds) seconds",
                advice: "wait so long, and run 'keychainctl unlock' then")
        ]
    }

    /// A locked keychain is not a damaged one.
    package static var locked: StoreFinding {
        StoreFinding(
            .note, "the keychain is locked, so its items were not looked at",
            advice: "run 'keychainctl unlock' and then 'keychainctl doctor' again")
    }

    /// - Parameter isDaemons: Whether a daemon has the store.
    package static func unusable(_ error: KeychainError, isDaemons: Bool) -> StoreFinding {
        if error.signal == .unusableKeybag, let flaw = error.cause as? KeychainError {
            return StoreFinding(
                .damage, "the keychain cannot be used (status \(error.code.status)): \(flaw.message)",
                advice: "nothing was changed, and nothing can be read without both files. If the device key is not "
                    + "this store's, put it back from a backup, or say with --device-key or XDG_STATE_HOME where it is; "
                    + "if it is, put the file keybag back from a backup")
        }
        var (advice, isRepairable) = ("", error.signal == .damage)
        if isDaemons, error.code == .notAvailable {
            // The store belongs to the daemon, which cannot tell its state now.
            isRepairable = true
            advice = "; stop keychaind before that"
        }
        return StoreFinding(
            .damage, "the keychain cannot be used (status \(error.code.status)): \(error.message)",
            advice: error.signal == .newerFormat
                ? "nothing was changed"
                : "nothing was changed. Mend what the message names and run 'keychainctl doctor' again; if the "
                    + "database itself is damaged, 'keychainctl doctor --repair' saves what can be read" + advice,
            isRepairable: isRepairable)
    }
}
