internal import FoundationEssentials
package import KeychainModel

// The findings of 'keychainctl doctor' with the system's daemon.
extension StoreFinding {
    package static var notChecked: StoreFinding {
        StoreFinding(
            .note, "the items were not looked at: those of all programs are for the owner to check",
            advice: "run 'keychainctl doctor' at a terminal, where it asks for the passcode")
    }

    /// Items are in this user's own store, where no program looks.
    ///
    /// - Parameter mark: The store's mark.
    package static func unmoved(_ store: StoreLocation, _ mark: StoreHost) -> StoreFinding {
        let path = store.storeDirectory.path
        return mark.isMoving
            ? StoreFinding(
                .warning, "the items in \(path) are being moved, or that was cut short",
                advice: "if it was, run 'keychainctl migrate --to system' again")
            : StoreFinding(
                .note, "the items in \(path) are not in this keychain",
                advice: "'keychainctl migrate --to system' moves them")
    }

    package static var hiddenProcesses: [StoreFinding] {
        hiddenProcesses(mounts: (try? String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8)) ?? "")
    }

    /// - Parameter mounts: The content of `/proc/self/mountinfo` (proc_pid_mountinfo(5)).
    package static func hiddenProcesses(mounts: String) -> [StoreFinding] {
        // The last mount at a place is the one that is seen.
        let proc = mounts.split(separator: "\n").last { $0.split(separator: " ").dropFirst(4).first == "/proc" }
        let options = proc?.split(separator: " ").last?.split(separator: ",") ?? []
        guard let option = options.last(where: { $0.hasPrefix("hidepid=") }),
            !["0", "off"].contains(option.dropFirst("hidepid=".count))
        else { return [] }
        return [
            StoreFinding(
                // Its unit has a /proc of its own (ProtectKernelTunables=), without the option.
                .note,
                "/proc is mounted with \(option): a keychaind of the system that its unit did not start refuses the "
                    + "programs of users, since it does not see them",
                advice: "start it with 'systemctl start keychaind.socket'")
        ]
    }
}
