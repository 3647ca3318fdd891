internal import CKeychainLinux
package import FoundationEssentials
internal import Glibc
package import KeychainModel
package import KeychainSystem

/// The socket that a daemon listens at: one that systemd made and handed over, or one of its own at a path.
package final class ListeningSocket: Sendable {
    package let descriptor: OpenDescriptor
    /// nil: it is systemd's, and stays when the daemon ends.
    private let file: SocketFile?

    private init(_ descriptor: OpenDescriptor, _ file: SocketFile?) {
        self.descriptor = descriptor
        self.file = file
    }

    /// Makes a socket in a directory that is made if it is missing.
    ///
    /// A socket that a dead daemon left there is replaced; a socket with a listener never is.
    ///
    /// - Parameter isForAll: Whether every user may connect, and not this one alone.
    /// - Throws: `.notAvailable` if another daemon serves there, or others may write to the place.
    package init(at url: URL, isForAll: Bool = false) throws(KeychainError) {
        let file = try SocketFile(url, isForAll)
        descriptor = try file.listen()
        self.file = file
    }

    /// Whether systemd made it, and starts a daemon when a client connects.
    package var isActivated: Bool { file == nil }

    /// Removes the daemon's own socket: new clients are told at once that no daemon is there. At systemd's socket they
    /// wait for the next daemon.
    package func remove() {
        guard let file else { return }
        file.remove()
        shutdown(descriptor.number, Int32(SHUT_RDWR))
    }
}

/// A socket in the file system, and the right to make it.
private final class SocketFile: Sendable {
    private let url: URL
    private let isForAll: Bool
    /// Locked for as long as the daemon lives. The file stays: without it two daemons could lock.
    private let lock: OpenDescriptor
    private let made = Made()

    /// Which file this daemon made, so that it removes no other one.
    private final class Made: @unchecked Sendable {  // set before the daemon has a second thread
        var file: FileNumber?
    }

    init(_ url: URL, _ isForAll: Bool) throws(KeychainError) {
        self.url = url
        self.isForAll = isForAll
        try Self.makeDirectory(url.deletingLastPathComponent(), isForAll ? 0o755 : 0o700)
        lock = try Self.lock(url.appendingPathExtension("lock"), for: url)
    }

    func listen() throws(KeychainError) -> OpenDescriptor {
        try removeStale()
        var number: Int32 = -1
        let failure = ckeychain_listen(url.path, &number)
        if failure == ENAMETOOLONG {
            throw KeychainError(
                .notAvailable, message: "the socket's path \(url.path) is too long: it may have 107 bytes")
        }
        guard failure == 0 else { throw Self.failure("listen at", url, failure) }
        let listener = OpenDescriptor(number)
        var information = stat()
        guard chmod(url.path, isForAll ? 0o666 : 0o600) == 0, lstat(url.path, &information) == 0 else {
            throw Self.failure("protect", url, errno)
        }
        made.file = FileNumber(information)
        return listener
    }

    func remove() {
        var information = stat()
        if lstat(url.path, &information) == 0, FileNumber(information) == made.file { unlink(url.path) }
    }

    private func removeStale() throws(KeychainError) {
        var information = stat()
        guard lstat(url.path, &information) == 0 else {
            if errno == ENOENT { return }
            throw Self.failure("look at", url, errno)
        }
        guard information.st_mode & S_IFMT == S_IFSOCK else {
            throw KeychainError(.notAvailable, message: "\(url.path) is no socket: move it away, or name another path")
        }
        var number: Int32 = -1
        let failure = KeychainSystem.ckeychain_connect(url.path, 1_000, &number)
        guard failure != 0 else {
            close(number)
            throw KeychainError(
                .notAvailable,
                message: "a program listens at \(url.path) already. If it is the service manager, start the daemon "
                    + "through it: systemctl \(isForAll ? "" : "--user ")start keychaind")
        }
        // Only this failure says that the socket has no listener.
        guard failure == ECONNREFUSED else { throw Self.failure("connect to", url, failure) }
        guard unlink(url.path) == 0 else { throw Self.failure("replace", url, errno) }
    }

    private static func lock(_ file: URL, for socket: URL) throws(KeychainError) -> OpenDescriptor {
        let number = try OwnFile.make(file)
        let lock = OpenDescriptor(number)
        guard flock(number, LOCK_EX | LOCK_NB) == 0 else {
            guard errno == EWOULDBLOCK else { throw failure("lock", file, errno) }
            throw KeychainError(.notAvailable, message: "another keychaind serves \(socket.path)")
        }
        return lock
    }

    /// - Throws: `.notAvailable` if the directory is a link, another user's, or open to writing by others: they could
    ///   put a socket of their own in this one's place.
    private static func makeDirectory(_ url: URL, _ mode: mode_t) throws(KeychainError) {
        let parent = url.deletingLastPathComponent().path
        var information = stat()
        // The directory of another user's sessions: root's daemon would keep that user's own out.
        let isOurs = lstat(url.path, &information) == 0 && information.st_uid == 0
        if geteuid() == 0, !isOurs, stat(parent, &information) == 0, information.st_uid != 0 {
            throw KeychainError(
                .notAvailable,
                message: "the daemon's socket is not made in \(parent), which belongs to user \(information.st_uid): "
                    + "run keychaind as that user, or name a path with --socket")
        }
        let isMade = mkdir(url.path, mode) == 0
        // The process's mask takes rights from what it makes.
        if isMade ? chmod(url.path, mode) != 0 : errno != EEXIST {
            let number = errno
            guard number == ENOENT else { throw failure("make", url, number) }
            throw KeychainError(
                .notAvailable,
                message: "there is no directory \(parent) for the daemon's socket: set "
                    + "XDG_RUNTIME_DIR, or name a path with --socket")
        }
        guard lstat(url.path, &information) == 0 else { throw failure("look at", url, errno) }
        guard information.st_mode & S_IFMT == S_IFDIR, information.st_uid == geteuid(),
            information.st_mode & 0o022 == 0
        else {
            let flaw =
                information.st_mode & S_IFMT == S_IFDIR
                ? "belongs to \(information.st_uid), with the mode \(String(information.st_mode & 0o7777, radix: 8))"
                : OwnFile.flaw(ofType: information.st_mode) ?? "is a file"
            throw KeychainError(
                .notAvailable,
                message: "the daemon's socket cannot be in \(url.path): it must be a directory of this user "
                    + "(\(geteuid())) to which no other may write, and \(flaw). Change that, or name a path with "
                    + "--socket")
        }
    }

    private static func failure(_ what: String, _ url: URL, _ number: Int32) -> KeychainError {
        KeychainError(.notAvailable, message: "cannot \(what) \(url.path): \(String(cString: strerror(number)))")
    }
}

// MARK: - Socket activation

extension ListeningSocket {
    /// systemd hands descriptors over from this number on (sd_listen_fds(3)).
    private static let firstDescriptor: Int32 = 3

    /// nil: this process was not started for a socket. One that an activated process starts inherits the variables, and
    /// they are not for it.
    private static func handedOverCount(_ environment: Environment) -> String? {
        let variables = environment.variables
        return variables["LISTEN_PID"] == String(getpid()) ? variables["LISTEN_FDS"] : nil
    }

    /// The socket that systemd hands over, if it started this process for one. A process may call this once.
    ///
    /// - Throws: `.notAvailable` if systemd hands over anything but one local stream socket that listens.
    package static func activated(_ environment: Environment) throws(KeychainError) -> ListeningSocket? {
        guard let count = handedOverCount(environment) else { return nil }
        var isListener: Int32 = 0
        guard count == "1", ckeychain_is_listener(firstDescriptor, &isListener) == 0, isListener == 1 else {
            throw KeychainError(
                .notAvailable,
                message: "the service manager must hand over one local stream socket that listens: see keychaind.socket"
            )
        }
        _ = fcntl(firstDescriptor, F_SETFD, FD_CLOEXEC)
        return ListeningSocket(OpenDescriptor(firstDescriptor), nil)
    }
}
