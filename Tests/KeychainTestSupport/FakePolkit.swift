internal import Foundation
internal import Synchronization

/// A polkit of a test's own, on a bus of its own: Tests/Polkit/polkit.py runs both.
package final class FakePolkit: Sendable {
    package enum Answer: String, Sendable {
        case yes, no, dismissed
        /// There is no agent in the session.
        case nobody
        /// The caller may not ask about the processes of others.
        case refuse
        case never
    }

    /// In place of the system's bus.
    package let busAddress: String
    private let directory: URL
    private let process: Process
    private let conversation: Mutex<Conversation>

    /// - Parameter isMissing: Whether the bus has no polkit.
    package init(isMissing: Bool = false) throws {
        directory = try makeTemporaryDirectory()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments =
            [Repository.file("Tests/Polkit/polkit.py").path, directory.path] + (isMissing ? ["missing"] : [])
        var conversation = Conversation()
        process.standardInput = conversation.orders
        process.standardOutput = conversation.answers
        try process.run()
        busAddress = try conversation.nextAnswer()
        self.process = process
        self.conversation = Mutex(conversation)
    }

    deinit {
        // It ends with its standard input, and the bus with it.
        conversation.withLock { try? $0.orders.fileHandleForWriting.close() }
        process.waitUntilExit()
        // What is left behind, if anything, is in the directory for temporary files.
        try? FileManager.default.removeItem(at: directory)
    }

    /// What it answers from now on.
    package func answer(_ answer: Answer) throws { _ = try order("answer \(answer.rawValue)") }

    /// The last question, or "none".
    package var question: String { get throws { try order("question") } }

    /// Returns when the one that asked the last question has left.
    package func waitForLeave() throws { _ = try order("left") }

    private func order(_ text: String) throws -> String { try conversation.withLock { try $0.order(text) } }
}
