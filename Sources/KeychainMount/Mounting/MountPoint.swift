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
        var (status, statistics) = (stat(), statvfs())
        // statvfs(3) asks the program of the mount, and stat(2) may not. ECONNABORTED: that program is just ending. Its
        // watcher may give the mount back meanwhile, so a refusal here is no error.
        if statvfs(path, &statistics) != 0 && [ENOTCONN, ECONNABORTED].contains(errno) { try? unmount(lazily: true) }
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw KeychainError(.parameter, message: "\(path) is no directory: make one with 'mkdir' first")
        }
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else {
            throw KeychainError(.parameter, message: "\(path) cannot be read")
        }
        guard names.isEmpty else {
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
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        try Self.require(socketpair(AF_UNIX, kind, 0, &ends) == 0 ? 0 : errno, "make a socket")
        let own = OpenDescriptor(ends[0])
        let name = source.replacing("\\", with: "\\\\").replacing(",", with: "\\,")
        let process = try Self.start(
            ["-o", "default_permissions,subtype=keychain,fsname=\(name)", "--", path], socket: ends[1])
        close(ends[1])
        var descriptor: Int32 = -1
        let failure = ckeychain_fuse_receive(own.number, &descriptor)
        let status = ProgramStart.awaitEnd(of: process)
        // The program has said why.
        guard status == 0 else { throw KeychainError(.notAvailable, message: "fusermount3 did not mount \(path)") }
        try Self.require(failure, "get the mount from fusermount3")
        return OpenDescriptor(descriptor)
    }

    /// Ends the mount.
    ///
    /// - Parameter lazily: Whether programs that use files there are left without them, rather than the call refused.
    func unmount(lazily: Bool) throws(KeychainError) {
        let status = ProgramStart.awaitEnd(of: try Self.start((lazily ? ["-z"] : []) + ["-u", "-q", "--", path]))
        guard status == 0 else { throw KeychainError(.notAvailable, message: "fusermount3 did not unmount \(path)") }
    }

    /// Starts a program that gives the mount point back if this one is killed. fusermount3's own option for that does not, when
    /// the mount has a type of its own.
    ///
    /// The program's signal comes at the end of the thread that calls this, so that is the one that ends last.
    ///
    /// - Returns: The end of a pipe that this process keeps to its end.
    func startWatcher() throws(KeychainError) -> OpenDescriptor {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw KeychainError(.notAvailable, message: "there are no more descriptors") }
        _ = fcntl(ends[1], F_SETFD, FD_CLOEXEC)
        let connection = KeychainMounts.all.last { $0.point == path }?.connection ?? ""
        let shell = ["-c", Self.watcher, path, connection]
        let withSignal = ["--pdeathsig", "USR2", "/bin/sh"] + shell
        if (try? ChildProgram.start("/usr/bin/setpriv", withSignal, input: ends[0])) == nil {
            _ = try ChildProgram.start("/bin/sh", shell, input: ends[0])
        }
        close(ends[0])
        return OpenDescriptor(ends[1])
    }

    /// The pipe ends with this process. But a thread that waits in the kernel for an answer of this program outlives a kill,
    /// and keeps the pipe and the connection: all programs would wait for ever. So the kernel sends a signal, too, and the
    /// connection is ended if such a thread is left.
    ///
    /// By then another mount may have the place and the connection's number. So the file that ends the connection is opened
    /// at the start, and a mount that answers stays.
    private static let watcher = #"""
        exec >/dev/null 2>&1
        trap "" TERM INT HUP
        trap : USR2
        command exec 3>"/sys/fs/fuse/connections/$1/abort"
        while :; do
            read -r word
            if timeout -s KILL 2 cat; then
                stat -f -- "$0" || exec fusermount3 -u -z -q -- "$0"
                exit
            fi
            case $(cut -d " " -f 3 "/proc/$PPID/stat") in
            Z | "")
                echo 1 >&3 && stat -f -- "$0" || exec fusermount3 -u -z -q -- "$0"
                exit
                ;;
            esac
            sleep 1
        done
        """#

    private static func require(_ failure: Int32, _ action: String) throws(KeychainError) {
        guard failure == 0 else {
            throw KeychainError(.notAvailable, message: "cannot \(action): \(String(cString: strerror(failure)))")
        }
    }

    /// Starts fusermount3.
    ///
    /// - Parameter socket: The socket to which it sends the descriptor of the mount.
    private static func start(_ arguments: [String], socket: Int32? = nil) throws(KeychainError) -> pid_t {
        guard let program = SearchPath(Environment.process.variables["PATH"]).program("fusermount3") else {
            throw KeychainError(
                .notAvailable, message: "there is no fusermount3, which mounts: install the package fuse3")
        }
        var variables = Environment.process.variables
        if socket != nil { variables["_FUSE_COMMFD"] = "3" }
        return try ChildProgram.start(program, arguments, variables: variables, more: socket.map { [$0] } ?? [])
    }
}

/// Another program, started with the output of this one.
enum ChildProgram {
    /// - Parameters:
    ///   - variables: Its variables; nil: those of this process.
    ///   - more: Its further descriptors, from number 3 on.
    static func start(
        _ path: String, _ arguments: [String], variables: [String: String]? = nil, input: Int32 = STDIN_FILENO,
        more: [Int32] = []
    ) throws(KeychainError) -> pid_t {
        var process: pid_t = 0
        let failure = ProgramStart.spawn(
            path, arguments, variables, (input, STDOUT_FILENO, STDERR_FILENO), more: more, &process)
        guard failure == 0 else {
            throw KeychainError(.notAvailable, message: "cannot start \(path): \(String(cString: strerror(failure)))")
        }
        return process
    }
}
