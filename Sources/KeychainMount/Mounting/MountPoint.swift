internal import CKeychainFuse
internal import FoundationEssentials
internal import Glibc
internal import KeychainModel
internal import KeychainSystem

/// A directory under which a volume is seen. The mount is the work of fusermount3, which has the right to mount.
struct MountPoint {
    let path: String

    /// Finds the directory. A mount point whose program was killed is given back first.
    ///
    /// - Throws: `.parameter` if it is no empty directory.
    init(_ named: String) throws(KeychainError) {
        // A mount point without its program cannot be looked at, and the directory above it can.
        let given = FilePath.withoutSlashAtEnd(named)
        path = try Self.real(FilePath.directory(of: given)) + "/" + FilePath.name(of: given)
        var status = stat()
        if stat(path, &status) != 0 && errno == ENOTCONN {
            try unmount(lazily: true)
        }
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw KeychainError(.parameter, message: "\(path) is no directory: make one with 'mkdir' first")
        }
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path), names.isEmpty else {
            throw KeychainError(.parameter, message: "\(path) is not empty: the mount would hide the files in it")
        }
    }

    static func real(_ path: String) throws(KeychainError) -> String {
        guard let real = realpath(path, nil) else {
            throw KeychainError(.parameter, message: "cannot find \(path): \(String(cString: strerror(errno)))")
        }
        defer { free(real) }
        return String(cString: real)
    }

    /// Mounts, and returns the descriptor from which requests are read.
    ///
    /// - Parameter source: The directory below, which the list of mounts shows.
    func mount(_ source: String) throws(KeychainError) -> OpenDescriptor {
        var ends: [Int32] = [-1, -1]
        try Self.require(ckeychain_fuse_pair(&ends), "make a socket")
        let own = OpenDescriptor(ends[0])
        let name = source.replacing("\\", with: "\\\\").replacing(",", with: "\\,")
        let process = try Self.start(
            ["-o", "default_permissions,subtype=keychain,fsname=\(name)", "--", path],
            ["_FUSE_COMMFD=\(ends[1])"])
        close(ends[1])
        var descriptor: Int32 = -1
        let failure = ckeychain_fuse_receive(own.number, &descriptor)
        let status = Self.await(process)
        // The program has said why.
        guard status == 0 else { throw KeychainError(.notAvailable, message: "fusermount3 did not mount \(path)") }
        try Self.require(failure, "get the mount from fusermount3")
        return OpenDescriptor(descriptor)
    }

    /// Ends the mount.
    ///
    /// - Parameter lazily: Whether programs that use files there are left without them, rather than the call refused.
    func unmount(lazily: Bool) throws(KeychainError) {
        let status = Self.await(try Self.start((lazily ? ["-z"] : []) + ["-u", "-q", "--", path], []))
        guard status == 0 else { throw KeychainError(.notAvailable, message: "fusermount3 did not unmount \(path)") }
    }

    /// Starts a program that gives the mount point back if this one is killed. fusermount3's own option for that does not, when
    /// the mount has a type of its own.
    ///
    /// - Returns: The end of a pipe. Closed without ``calmWatcher(_:)``, as by a kill, it wakes the other program.
    func startWatcher() throws(KeychainError) -> OpenDescriptor {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw KeychainError(.notAvailable, message: "there are no more descriptors") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        // By then another mount may have the place. statfs(2) asks the program of a mount, where stat(2) may not.
        let words =
            #"exec >/dev/null 2>&1; read -r word || stat -f -- "$0" || exec fusermount3 -u -z -q -- "$0""#
        _ = try ChildProgram.start(["/bin/sh", "-c", words, path], [], input: ends[0])
        close(ends[0])
        return OpenDescriptor(ends[1])
    }

    /// Ends the other program: the mount ends as it has to.
    static func calmWatcher(_ watcher: OpenDescriptor) { _ = write(watcher.number, "\n", 1) }

    private static func require(_ failure: Int32, _ action: String) throws(KeychainError) {
        guard failure == 0 else {
            throw KeychainError(.notAvailable, message: "cannot \(action): \(String(cString: strerror(failure)))")
        }
    }

    private static func start(_ arguments: [String], _ variables: [String]) throws(KeychainError) -> pid_t {
        guard let program = SearchPath(Environment.process.variables["PATH"]).program("fusermount3") else {
            throw KeychainError(
                .notAvailable, message: "there is no fusermount3, which mounts: install the package fuse3")
        }
        return try ChildProgram.start([program] + arguments, variables)
    }

    private static func await(_ process: pid_t) -> Int32 { ChildProgram.await(process) }
}

/// Another program, started with the output of this one.
enum ChildProgram {
    /// - Parameters:
    ///   - variables: Variables beside those of this process, as `NAME=value`.
    ///   - input: Its standard input. `nil` means that of this process.
    static func start(
        _ words: [String], _ variables: [String], input: Int32? = nil
    ) throws(KeychainError) -> pid_t {
        var arguments = words.map { strdup($0) } + [nil]
        let names = variables.map { $0.prefix { $0 != "=" } }
        let present = ProcessInfo.processInfo.environment.filter { !names.contains($0.key[...]) }.map { "\($0)=\($1)" }
        var environment = (present + variables).map { strdup($0) } + [nil]
        defer { for text in arguments + environment { free(text) } }
        // Signals that this program holds back are not held back there.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input { posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO) }
        var process: pid_t = 0
        let failure = posix_spawn(&process, words[0], &actions, &attributes, &arguments, &environment)
        guard failure == 0 else {
            throw KeychainError(
                .notAvailable, message: "cannot start \(words[0]): \(String(cString: strerror(failure)))")
        }
        return process
    }

    /// Waits for its end.
    ///
    /// - Returns: Its exit status. A signal that has ended it counts as 128 and its number.
    static func await(_ process: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 { if errno != EINTR { return 1 } }
        return status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f
    }
}
