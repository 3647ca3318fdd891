internal import FoundationEssentials
internal import Glibc
internal import KeychainModel
internal import KeychainSystem

/// The place where a daemon listens, and the users who may own it.
package struct DaemonAddress: Sendable, Hashable {
    package let path: String
    /// The name of the address in `KEYCHAIN_HOST`.
    package let name: String
    /// One of these users must be listening there: another user's program would be handed every secret.
    let owners: [uid_t]
    /// The advice how to start it, for a person.
    private(set) var advice: String

    init(path: String, owners: [uid_t]) {
        self.path = path
        name = "unix:" + path
        self.owners = owners
        advice = "start the keychaind that listens there"
    }

    init(ofUser socket: URL, owner: uid_t) {
        path = socket.path
        name = "user"
        owners = [owner]
        advice = "start it with 'systemctl --user start keychaind.socket', or 'keychaind --user'"
    }

    /// The system's. root's service manager listens for it, or its own account does.
    private init(ofSystem path: String) {
        self.path = path
        name = "system"
        // Without an answer of the account database only root's listener is taken.
        owners = [0] + [try? AccountDatabase.user(named: "_keychain")].compactMap { $0 ?? nil }
        advice = "start it with 'systemctl enable --now keychaind.socket' (as root)"
    }

    /// An address whose advice names the administrator's file.
    func named(in file: URL) -> DaemonAddress {
        var address = self
        address.advice += ". Programs are led there by \(file.path)"
        return address
    }

    static var ofSystem: DaemonAddress { DaemonAddress(ofSystem: SocketLocation.ofSystem.path) }

    /// Makes a connected socket. A send on it gives up after one part of the patience.
    ///
    /// - Throws: `.notAvailable` if no program listens there, or another user's.
    ///
    /// - Parameter isForLock: Whether a connection is made that the daemon takes for a request to lock, and nothing else.
    func connect(_ patience: Patience, isForLock: Bool = false) throws(KeychainError) -> Int32 {
        var descriptor: Int32 = -1
        var silent = 0
        var failure: Int32
        repeat {
            failure =
                isForLock
                ? ckeychain_connect_for_lock(path, patience.milliseconds, &descriptor)
                : ckeychain_connect(path, patience.milliseconds, &descriptor)
            silent += 1
        } while failure == EAGAIN && patience.goesOn(after: silent, of: patience.parts)
        if failure == EAGAIN { throw isSilent(for: patience.time(of: silent)) }
        guard failure == 0 else { throw unreachable("no keychaind answers at \(path)", failure) }
        do throws(KeychainError) {
            try requireOwner(descriptor)
            return descriptor
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// Has the daemon lock in a way that needs no place among its connections. The kernel says which process it is that
    /// refuses a connection. One of this user takes a signal, and another one a connection that asks for nothing else.
    ///
    /// - Throws: `.notAvailable` if no program refuses the connection, or another user's program listens.
    func signalLock(_ patience: Patience) throws(KeychainError) {
        let descriptor = try connect(patience)
        defer { close(descriptor) }
        var pid: Int32 = 0
        var user: uid_t = 0
        var failure = ckeychain_await_sender(descriptor, 5_000, &pid, &user)
        if failure == 0 && user != geteuid() {
            let asking = try connect(patience, isForLock: true)
            defer { close(asking) }
            failure = ckeychain_await_sender(asking, 5_000, &pid, &user)
            if failure == 0 { return }
        }
        // The kernel gives no number for a process that this one cannot see, and kill(2) takes 0 for a whole group.
        if failure == 0 && pid <= 1 { failure = ESRCH }
        if failure == 0 && kill(pid, SIGUSR1) != 0 { failure = errno }
        guard failure == 0 else { throw unreachable("the keychaind at \(path) cannot be signalled", failure) }
    }

    /// The kernel names the caller of listen(2): the daemon itself, or the user's service manager for it.
    private func requireOwner(_ descriptor: Int32) throws(KeychainError) {
        var user: uid_t = 0
        let failure = ckeychain_peer_user(descriptor, &user)
        guard failure == 0 else { throw unreachable("nobody can tell whose \(path) is", failure) }
        guard owners.contains(user) else {
            throw KeychainError(
                .notAvailable,
                message: "the program that listens at \(path) belongs to another user (\(user)), and is told "
                    + "nothing")
        }
    }

    func isSilent(for time: Duration) -> KeychainError {
        KeychainError(
            .notAvailable,
            message: "the keychaind at \(path) does not answer. It has been silent for \(time.inSeconds), and may be "
                + "stopped or overloaded", signal: .silent)
    }

    private func unreachable(_ what: String, _ number: Int32) -> KeychainError {
        KeychainError(.notAvailable, message: "\(what) (\(String(cString: strerror(number)))): \(advice)")
    }
}
