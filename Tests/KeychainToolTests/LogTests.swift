import Foundation
import Testing

@Suite struct LogTests {
    private func logSize(_ tool: Tool) throws -> Int {
        let log = tool.store.appendingPathComponent("keychain.db-wal")
        return FileManager.default.fileExists(atPath: log.path) ? try Data(contentsOf: log).count : 0
    }

    @Test("A process that wrote leaves no log behind, with ciphertext that was replaced or deleted")
    func emptied() throws {
        try withTool { tool in
            try tool.run("add", "generic", "--service", "s", "--account", "a", input: Data("first".utf8))
            #expect(try logSize(tool) == 0)
            try tool.run("update", "generic", "--service", "s", "--secret", input: Data("second".utf8))
            #expect(try logSize(tool) == 0)
            try tool.run("delete", "generic", "--service", "s")
            #expect(try logSize(tool) == 0)
        }
    }

    @Test("What was written is in the database itself")
    func written() throws {
        try withTool { tool in
            try tool.run("add", "generic", "--service", "s", "--account", "a", input: Data("first".utf8))
            for suffix in ["-wal", "-shm"] {
                let file = URL(fileURLWithPath: tool.database.path + suffix)
                if FileManager.default.fileExists(atPath: file.path) { try FileManager.default.removeItem(at: file) }
            }
            #expect(try tool.run("get", "generic", "--service", "s").text == "first")
        }
    }
}
