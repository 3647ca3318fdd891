internal import ArgumentParser

/// The failures of a command that goes on with the next file.
struct FileFailures {
    private var firstStatus: Int32?
    private(set) var count = 0

    mutating func add(_ failure: FileFailure) {
        Console.complain(failure.text)
        firstStatus = firstStatus ?? failure.status
        count += 1
    }

    /// - Throws: the status of the first failure, which was told already.
    func end() throws {
        if let firstStatus { throw ExitCode(firstStatus) }
    }
}
