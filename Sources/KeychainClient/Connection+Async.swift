package import KeychainModel

extension Connection {
    /// Performs a request in a task: the call blocks a thread of its own kind, never one of the tasks' threads.
    ///
    /// A task that is cancelled meanwhile gets the answer all the same: whether the request was carried out must be
    /// known.
    package func performInTask(_ request: Request) async throws(KeychainError) -> Reply {
        try await BlockingCalls.shared.run { [self] () throws(KeychainError) in try perform(request) }
    }
}
