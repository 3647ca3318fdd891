internal import CKeychainLinux
internal import DataProtectionCore
internal import FoundationEssentials
internal import Glibc
internal import KeychainClient
internal import KeychainModel
internal import KeychainSystem

/// The program `keychain-mount`, which `keychainctl file mount` starts.
@main
enum KeychainMountCommand {
    private static let usage = """
        Usage: keychain-mount [--foreground] [--store DIRECTORY] [--device-key DIRECTORY] DIRECTORY MOUNTPOINT

        Shows the protected files of a directory as plain ones, to the programs of this user. See keychainctl file mount.

        """

    static func main() {
        do throws(KeychainError) {
            guard let words = MountWords(CommandLine.arguments.dropFirst()) else {
                say(usage)
                exit(64)
            }
            if words.isVersion {
                print(Release.version)
            } else if words.isForeground {
                try serve(words)
            } else {
                exit(try startInBackground())
            }
        } catch {
            say("keychain-mount: \(error.message)\n")
            exit(error.code.status & 0xff)
        }
    }

    private static func say(_ text: String) {
        var text = text
        _ = text.withUTF8 { UnsafeRawBufferPointer($0).write(to: STDERR_FILENO) }
    }

    private static func serve(_ words: MountWords) throws(KeychainError) {
        // Other programs of this user do not read the memory, which has keys and content, and no core file has it.
        KeychainSystem.ckeychain_limit_cores()
        guard ckeychain_hide_process() == 0 else {
            throw KeychainError(.notAvailable, message: "this process cannot be hidden")
        }
        raiseDescriptorLimit()
        // The kernel has taken the mask of each program into account.
        umask(0)
        StandardStreams.makeSafe()
        if let report = words.report {
            _ = fcntl(report, F_SETFD, FD_CLOEXEC)
            setsid()
        }
        let signals: OpenDescriptor
        do throws(SystemError) {
            signals = try HeldSignals.descriptor(of: [SIGTERM, SIGINT, SIGHUP])
        } catch {
            throw KeychainError(.notAvailable, message: error.message)
        }
        var configuration = KeychainConfiguration()
        configuration.storeDirectory = words.store.map { URL(fileURLWithPath: $0, isDirectory: true) }
        configuration.deviceKeyDirectory = words.deviceKey.map { URL(fileURLWithPath: $0, isDirectory: true) }
        // Otherwise the first write would be refused, without a word.
        if case .embedded(let location) = try ChosenHost(configuration) {
            try PrivateDirectory.requireOwnHome(location.storeDirectory)
        }
        try Mount(words.directory, at: words.point).serve(ProtectedFiles(configuration), signals: signals) {
            if let report = words.report { leaveTerminal(report) }
        }
    }

    /// Files that the kernel knows are held open.
    private static func raiseDescriptorLimit() {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        getrlimit(resource, &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(resource, &limit)
    }

    /// Starts this program a second time, and waits until the mount can be used.
    ///
    /// - Returns: The exit status.
    private static func startInBackground() throws(KeychainError) -> Int32 {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw KeychainError(.notAvailable, message: "there are no more descriptors") }
        let process = try ChildProgram.start(
            OwnProgram.path, ["--foreground", "--report", "3"] + CommandLine.arguments.dropFirst(),
            more: [ends[1]])
        close(ends[1])
        var byte: UInt8 = 0
        while true {
            let count = read(ends[0], &byte, 1)
            if count == 1 { return 0 }
            if count == 0 || errno != EINTR { return max(1, ProgramStart.awaitEnd(of: process)) }
        }
    }

    private static func leaveTerminal(_ report: Int32) {
        chdir("/")
        let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
        for number in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] { dup2(nothing, number) }
        close(nothing)
        _ = write(report, "1", 1)
        close(report)
    }
}

/// The words of the command line.
struct MountWords: Equatable {
    private(set) var isVersion = false
    private(set) var isForeground = false
    private(set) var store: String?
    private(set) var deviceKey: String?
    /// The descriptor on which the program says that the mount can be used. Then it leaves its terminal.
    private(set) var report: Int32?
    private(set) var directory = ""
    private(set) var point = ""

    /// - Returns: `nil` for words that mean nothing.
    init?(_ words: some Sequence<String>) {
        var paths: [String] = []
        var words = Array(words)[...]
        while let word = words.popFirst() {
            switch word {
            case "--version": isVersion = true
            case "--foreground": isForeground = true
            case "--store":
                guard let value = words.popFirst() else { return nil }
                store = value
            case "--device-key":
                guard let value = words.popFirst() else { return nil }
                deviceKey = value
            case "--report":
                guard let value = words.popFirst().flatMap({ Int32($0) }) else { return nil }
                report = value
            case "--":
                paths += words
                words = []
            default:
                if word.hasPrefix("-") { return nil }
                paths.append(word)
            }
        }
        if isVersion && paths.isEmpty { return }
        guard paths.count == 2, !paths.contains("") else { return nil }
        (directory, point) = (paths[0], paths[1])
    }
}
