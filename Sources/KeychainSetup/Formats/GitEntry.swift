internal import FoundationEssentials
internal import Glibc
internal import KeychainModel
internal import KeychainRun
internal import KeychainSystem

/// A value of git's configuration, as git reads it.
struct GitEntry: Equatable {
    /// The key, with section and name in small letters.
    let key: String
    /// nil: the key has no value, which means true.
    let value: String?

    /// The entries of a file's content, in their order. The content may have passwords, so it reaches git only through
    /// memory.
    static func all(in content: Data) throws -> [GitEntry] {
        let memory = try MemoryFile(SecretBytes(copying: content), for: .reading)
        defer { memory.release() }
        let (status, output) = try Git.run(
            ["config", "--file", "-", "--no-includes", "--list", "-z"], input: memory.descriptor)
        guard status == 0 else { throw SetupFailure(message: "is not understood by git") }
        return output.split(separator: "\0", omittingEmptySubsequences: false).dropLast().map { GitEntry($0) }
    }

    init(key: String, value: String?) { (self.key, self.value) = (key, value) }

    /// The entry in a text "KEY\nVALUE", which git prints with -z.
    init(_ text: Substring) {
        let end = text.firstIndex(of: "\n")
        key = String(text[..<(end ?? text.endIndex)])
        value = end.map { String(text[text.index(after: $0)...]) }
    }
}

enum Git {
    static func run(
        _ arguments: [String], input: Int32? = nil
    ) throws -> (status: Int32, output: String) {
        guard let program = SetupSurroundings().program("git") else {
            throw SetupFailure(message: "there is no git in the PATH")
        }
        let discard = OpenDescriptor(open("/dev/null", O_RDWR | O_CLOEXEC))
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw KeychainError(file: "a pipe", "make", errno) }
        defer { close(ends[0]) }
        // The status says enough, and git's lines on its errors have another form than this command's.
        let git = Result { () throws(ProgramFailure) in
            try SpawnedProgram(program, arguments, descriptors: (input ?? discard.number, ends[1], discard.number))
        }
        close(ends[1])
        switch git {
        case .failure(let failure): throw SetupFailure(message: failure.message)
        case .success(let git):
            let text = OpenDescriptor.content(of: ends[0])
            let failure = errno
            let status = git.awaitEnd()
            guard let text else { throw KeychainError(file: "git's answer", "read", failure) }
            return (status, String(decoding: text, as: UTF8.self))
        }
    }
}
