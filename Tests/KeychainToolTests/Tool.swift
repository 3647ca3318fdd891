import Foundation
import KeychainClient
import KeychainModel
import KeychainTestSupport
import SwiftKeychain

/// The real command, run as a process on a home directory of its own.
struct Tool {
    let home: URL
    /// Of its environment, besides those of every test.
    var variables: [String: String] = [:]

    struct Outcome {
        var status: Int32
        var output: Data
        var errors: String

        var text: String { String(decoding: output, as: UTF8.self) }
        var json: Any? { try? JSONSerialization.jsonObject(with: output) }
        var objects: [[String: Any]] { json as? [[String: Any]] ?? [] }
        var object: [String: Any] { json as? [String: Any] ?? [:] }
    }

    static let executable = BuiltProducts.url(of: "keychainctl")

    var store: URL { home.appendingPathComponent("data/keychain") }
    var deviceKey: URL { home.appendingPathComponent("state/keychain") }
    var temporaryDirectory: URL { home.appendingPathComponent("tmp") }
    var database: URL { store.appendingPathComponent("keychain.db") }

    var environment: [String: String] {
        [
            "HOME": home.path, "XDG_DATA_HOME": home.appendingPathComponent("data").path,
            "XDG_STATE_HOME": home.appendingPathComponent("state").path,
            "TMPDIR": temporaryDirectory.path, "PATH": "/usr/bin:/bin",
        ].merging(variables) { $1 }
    }

    /// - Parameter input: nil: a secret for 'add', which takes nothing for no secret; for all else nothing.
    @discardableResult
    func run(_ arguments: String..., input: Data? = nil) throws -> Outcome {
        try start(Self.executable, arguments, input: input ?? Data((arguments.first == "add" ? "any" : "").utf8))
    }

    @discardableResult
    func run(words: [String], input: Data = Data()) throws -> Outcome {
        try start(Self.executable, words, input: input)
    }

    /// Runs a statement as someone who has the database and no key.
    func edit(_ sql: String) throws {
        let program = "import sqlite3; c = sqlite3.connect('\(database.path)'); c.execute('\(sql)'); c.commit()"
        guard try shell("python3 -c \"\(program)\"").status == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    /// Runs a line of shell in which `$K` is the command.
    func shell(_ line: String) throws -> Outcome {
        try start(URL(fileURLWithPath: "/bin/sh"), ["-c", line], input: Data())
    }

    /// Input and output are files: a pipe that nobody empties would stop the process.
    @discardableResult
    func start(_ program: URL, _ arguments: [String], input: Data) throws -> Outcome {
        // Not in the home directory, all of which some tests have protected.
        let files = try makeTemporaryDirectory()
        defer { try? FileManager.default.removeItem(at: files) }
        let names = ["input", "output", "errors"].map { files.appendingPathComponent($0) }
        try input.write(to: names[0])
        try Data().write(to: names[1])
        try Data().write(to: names[2])
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.environment = environment.merging(["K": Self.executable.path]) { $1 }
        process.standardInput = try FileHandle(forReadingFrom: names[0])
        process.standardOutput = try FileHandle(forWritingTo: names[1])
        process.standardError = try FileHandle(forWritingTo: names[2])
        try withoutHeldSignals { try process.run() }
        process.waitUntilExit()
        return Outcome(
            status: process.terminationStatus, output: try Data(contentsOf: names[1]),
            errors: String(decoding: try Data(contentsOf: names[2]), as: UTF8.self))
    }

    /// Uses the store as a program with these access groups would.
    @discardableResult
    func asApp(_ groups: [String], _ request: Request) throws -> Reply {
        var configuration = KeychainConfiguration()
        configuration.storeDirectory = store
        configuration.deviceKeyDirectory = deviceKey
        configuration.accessGroups = groups
        return try Connection(configuration).perform(request)
    }
}

/// Runs `body` with the command and an empty home directory, which is removed afterwards.
func withTool(_ body: (Tool) throws -> Void) throws {
    try withTemporaryDirectory { home in
        try FileManager.default.createDirectory(
            at: home.appendingPathComponent("tmp"), withIntermediateDirectories: true)
        try body(Tool(home: home))
    }
}

extension Request {
    /// A password as a program stores it.
    static func add(
        service: AttributeValue = .text("s"), account: AttributeValue = .text("a"), secret: String? = "secret",
        flags: AccessControl.Flags = []
    ) throws -> Request {
        var request = AddRequest(.genericPassword)
        request.attributes[.service] = service
        request.attributes[.account] = account
        request.secret = secret.map { SecretBytes(copying: Data($0.utf8)) }
        request.accessControl = try AccessControl(.whenUnlocked, flags: flags)
        return .add(request)
    }
}
