internal import ArgumentParser
internal import KeychainClient
internal import KeychainModel

struct LockCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lock", abstract: "Take the keys away from every program of this user.",
        discussion: """
            What is accessible "after first unlock" or "always" stays within reach. Programs that want \
            to be told before have three seconds at most; then new calls are refused (36), and those in progress have \
            ten seconds to end.
            """)

    @OptionGroup var store: StoreOptions
    @Flag(help: "Tell nobody before, and refuse calls in progress too.") var now = false
    @Flag(help: "Print the state of the lock as a JSON object; docs/cli.md lists the keys.") var json = false

    func run() throws {
        let request = now ? LockRequest.now : .withGrace
        // A daemon has the keys in its own memory.
        let isDaemons = if case .daemon? = try? ChosenHost(store.configuration) { true } else { false }
        // The keys go first, because the opening of the store may fail or wait.
        if !isDaemons { try StoreLocation(store.configuration).lockUnopened(request) }
        do {
            let session = try KeychainSession.existing(store)
            try session.connection.lock(request)
            if json { try session.connection.lockStatus().writeJSON() }
        } catch let error as KeychainError where error.signal?.isOfWaiting == true {
            throw KeychainError(
                error.code,
                message:
                    "the keychain may be unlocked still: \(error.message). The daemon keeps its keys until it goes on "
                    + "and locks, or is killed", cause: error)
        } catch let error as KeychainError {
            if error.code == .noPasscode || error.code == .itemNotFound || isDaemons { throw error }
            throw KeychainError(
                error.code, message: "the keys were taken away, but the keychain does not open: \(error.message)",
                cause: error)
        }
    }
}

struct UnlockCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlock", abstract: "Bring the keys into reach of every program of this user.",
        discussion: """
            The passcode comes from a line of standard input, or from a prompt. A renewal of all keys that was \
            interrupted is finished.
            """)

    @OptionGroup var store: StoreOptions
    @Flag(help: "Print the state of the lock as a JSON object; docs/cli.md lists the keys.") var json = false

    func run() throws {
        try KeychainSession.requirePasscode(store)
        let passcode = try PasscodeInput.readPresent()
        let status = try RenewalObserver.during { report in
            try KeychainSession.withPasscode(store).0.connection.unlock(passcode, report: report)
        }
        guard status.keyPlace != .process else { throw KeychainError.unlockedForNobody }
        if json { try status.writeJSON() }
        status.noteIfUnwatched()
        if status.isRekeying { status.noteUnfinishedRenewal() }
    }
}

extension KeychainError {
    /// The command alone has the keys, and they end with it. Silence would mean success.
    fileprivate static var unlockedForNobody: KeychainError {
        KeychainError(
            .notAvailable,
            message: "the passcode is right, but the kernel's keyring takes no keys here, or no more of this user's "
                + "(/proc/key-users): every program has to unlock for itself, and this command can do it for none. "
                + "'keychainctl doctor' names the stores that take the room")
    }
}
