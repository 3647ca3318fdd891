import Foundation
import KeychainTestSupport

/// Another process that works on a store.
typealias AgentProcess = HelperProcess

extension HelperProcess {
    init(
        _ arguments: String..., usesKeyring: Bool = true, environment: [String: String] = [:], errors: URL? = nil
    ) throws {
        let mark = usesKeyring ? [:] : ["KEYCHAIN_TEST_WITHOUT_KEYRING": "1"]
        try self.init(words: ["agent"] + arguments, environment: mark.merging(environment) { $1 }, errors: errors)
    }

    /// One line to the command `serve`, and its answer.
    func ask(_ line: String) throws -> String {
        try write(line)
        return try readLine() ?? ""
    }

    /// Runs a command of the agent as another user, and returns how it ended. For root.
    static func status(asUser user: UInt32, _ arguments: String...) throws -> Int32 {
        try HelperProcess(words: ["agent", "as", "\(user)"] + arguments).finish().status
    }

    /// Ends the command `serve`.
    func end() throws {
        try endInput()
        _ = try finish()
    }
}
