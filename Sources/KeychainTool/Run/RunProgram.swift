internal import ArgumentParser
internal import CKeychainLinux
internal import Glibc
internal import KeychainModel

/// The program that 'run' starts.
struct RunProgram {
    /// The program's name and arguments, with a final nil.
    private let words: UnsafePointer<UnsafeMutablePointer<CChar>?>
    private let environment: RunEnvironment
    private let leavesCores: Int32

    /// - Parameters:
    ///   - line: A line for the shell; nil: the words behind "--" on the command line.
    ///   - leavesCores: Whether the program may leave core files, which have its variables in them.
    init(line: String?, _ environment: RunEnvironment, leavesCores: Bool) {
        self.environment = environment
        self.leavesCores = leavesCores ? 1 : 0
        if let line {
            let words = ["/bin/sh", "-c", line].map { (word: String) in strdup(word) } + [nil]
            let copy = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: words.count)
            copy.initialize(from: words, count: words.count)
            // The copy lives as long as the process.
            self.words = UnsafePointer(copy)
        } else {
            let start = ArgumentText.commandStart ?? Int(CommandLine.argc)
            words = UnsafePointer(CommandLine.unsafeArgv + start)
        }
    }

    private var name: String { words.pointee.map { String(cString: $0) } ?? "" }

    /// Puts the program in the place of this process.
    func replaceThis() throws -> Never {
        let defaults = StandardStreams.signalsIgnoredHere
        try refuse(environment.withPointers { ckeychain_become(words, $0, defaults, defaults.count, leavesCores) })
    }

    /// Starts the program as a child.
    ///
    /// - Parameters:
    ///   - output: Its standard output; -1: that of this program.
    ///   - errors: Its standard error; -1: that of this program.
    /// - Returns: the identifier of its process.
    func start(output: Int32, errors: Int32) throws -> Int32 {
        let defaults = StandardStreams.signalsIgnoredHere
        var process: Int32 = -1
        let failure = environment.withPointers {
            ckeychain_start_program(words, $0, defaults, defaults.count, leavesCores, output, errors, &process)
        }
        if failure != 0 { try refuse(failure) }
        return process
    }

    /// - Throws: the exit status that shells use: 127 for a program that is not found, 126 for one that cannot be
    ///   started.
    private func refuse(_ failure: Int32) throws -> Never {
        var reason = String(cString: strerror(failure))
        if failure == E2BIG {
            let large = environment.tooLarge
            reason =
                "its arguments and variables are larger than the system takes. "
                + (large.isEmpty
                    ? "'run --file NAME' hands a secret over as a file"
                    : "A variable has at most 128 KiB: hand \(large.joined(separator: ", ")) over as a file, with --file")
        }
        let status: Int32 = failure == ENOENT ? 127 : 126
        FailureReport(status: status, message: "cannot start \(name): \(reason)").tell()
        throw ExitCode(status)
    }
}
