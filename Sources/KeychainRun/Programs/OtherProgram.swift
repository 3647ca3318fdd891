internal import Glibc
internal import KeychainSystem

/// A program that does the work of one of ours.
package struct OtherProgram {
    private let path: String

    /// Looks beside this program, where those of one release are, and then in `PATH`. nil: there is none.
    package init?(_ name: String) {
        let beside = FilePath.join(FilePath.directory(of: OwnProgram.path), name)
        let found =
            SearchPath.isProgram(beside) ? beside : SearchPath(Environment.process.variables["PATH"]).program(name)
        guard let found else { return nil }
        path = found
    }

    /// Puts the program in the place of this process.
    package func becomeThis(_ words: [String]) throws(ProgramFailure) -> Never {
        var arguments = ([path] + words).map { strdup($0) } + [nil]
        execv(path, &arguments)
        throw ProgramFailure("start \(path)", errno)
    }

    /// Starts the program, and waits for its end.
    ///
    /// - Returns: its exit status, and the lines of its standard error.
    package func run(_ words: [String]) throws(ProgramFailure) -> (status: Int32, errors: [String]) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw ProgramFailure("make a pipe", errno) }
        let (errors, theirs) = (OpenDescriptor(ends[0]), OpenDescriptor(ends[1]))
        let status = try SpawnedProgram(
            path, words, descriptors: (STDIN_FILENO, STDOUT_FILENO, theirs.number)
        ).awaitEnd()
        // A program that goes on may have the other end.
        _ = fcntl(errors.number, F_SETFL, O_NONBLOCK)
        var text = [UInt8](repeating: 0, count: 64 << 10)
        let count = max(0, read(errors.number, &text, text.count))
        return (status, String(decoding: text[..<count], as: UTF8.self).split(separator: "\n").map(String.init))
    }
}
