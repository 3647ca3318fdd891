internal import CKeychainLinux
internal import Glibc
internal import KeychainSystem

/// The program that 'run' starts.
package struct RunProgram {
    /// The program's name and arguments, with a final nil.
    private let words: UnsafePointer<UnsafeMutablePointer<CChar>?>
    private let environment: RunEnvironment
    private let leavesCores: Int32
    /// The signals that this process ignores and the program does not.
    private let defaultSignals = StandardStreams.signalsIgnoredHere

    /// - Parameters:
    ///   - line: A line for the shell; nil: the words of this process's command line from `start` on.
    ///   - leavesCores: Whether the program may leave core files, which have its variables in them.
    package init(line: String?, orWordsFrom start: Int, _ environment: RunEnvironment, leavesCores: Bool) {
        self.environment = environment
        self.leavesCores = leavesCores ? 1 : 0
        if let line {
            let words = ["/bin/sh", "-c", line].map { (word: String) in strdup(word) } + [nil]
            let copy = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: words.count)
            copy.initialize(from: words, count: words.count)
            // The copy lives as long as the process.
            self.words = UnsafePointer(copy)
        } else {
            words = UnsafePointer(CommandLine.unsafeArgv + start)
        }
    }

    private var name: String { words.pointee.map { String(cString: $0) } ?? "" }

    /// Puts the program in the place of this process.
    package func replaceThis() throws(ProgramFailure) -> Never {
        let failure = environment.withPointers {
            ckeychain_become(words, $0, defaultSignals, defaultSignals.count, leavesCores)
        }
        throw refusal(failure)
    }

    /// Starts the program as a child.
    ///
    /// - Parameters:
    ///   - output: Its standard output; -1: that of this program.
    ///   - errors: Its standard error; -1: that of this program.
    /// - Returns: the identifier of its process.
    func start(output: Int32, errors: Int32) throws(ProgramFailure) -> Int32 {
        var process: Int32 = -1
        let failure = environment.withPointers {
            ckeychain_start_program(
                words, $0, defaultSignals, defaultSignals.count, leavesCores, output, errors, &process)
        }
        if failure != 0 { throw refusal(failure) }
        return process
    }

    private func refusal(_ failure: Int32) -> ProgramFailure {
        var reason = String(cString: strerror(failure))
        if failure == E2BIG {
            let large = environment.tooLarge
            reason =
                "its arguments and variables are larger than the system takes. "
                + (large.isEmpty
                    ? "'run --file NAME' hands a secret over as a file"
                    : "A variable has at most 128 KiB: hand \(large.joined(separator: ", ")) over as a file, with --file")
        }
        return ProgramFailure(status: failure == ENOENT ? 127 : 126, "cannot start \(name): \(reason)")
    }
}
