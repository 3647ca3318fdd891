internal import Glibc

/// Ends a helper that takes too long: a tool waits for its helper without a limit of its own.
enum TimeLimit {
    static let seconds: UInt32 = 30

    /// The texts are set before the signal can come, and never freed.
    private nonisolated(unsafe) static var answer: UnsafeMutablePointer<CChar>?
    private nonisolated(unsafe) static var complaint: UnsafeMutablePointer<CChar>?

    /// - Parameter answer: The text for standard output when the time is over.
    static func begin(_ program: String, answer text: String) {
        answer = strdup(text)
        complaint = strdup("\(program): no answer within \(seconds) seconds: 'keychainctl doctor' says what is wrong\n")
        signal(SIGALRM) { _ in TimeLimit.end() }
        start()
    }

    /// Gives the next step another ``seconds``.
    static func start() { alarm(seconds) }

    /// Stops the clock for as long as the tool has asked nothing, or a person types.
    static func pause() { alarm(0) }

    /// A signal's handler calls this, so it calls only functions that are safe there.
    private static func end() {
        tell(complaint, STDERR_FILENO)
        tell(answer, STDOUT_FILENO)
        _exit(1)
    }

    /// Writes only if the descriptor takes bytes: a write to a full pipe would wait without a limit.
    private static func tell(_ text: UnsafePointer<CChar>?, _ descriptor: Int32) {
        guard let text else { return }
        var output = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        if poll(&output, 1, 0) == 1 && output.revents & Int16(POLLOUT) != 0 {
            _ = write(descriptor, text, strlen(text))
        }
    }
}
