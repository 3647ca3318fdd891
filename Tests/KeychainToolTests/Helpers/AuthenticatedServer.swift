import Foundation
import KeychainTestSupport

/// A server of files on this machine that asks for a password (Tests/Helpers/authenticated-server.py), and a program that
/// answers git's questions and counts them.
final class AuthenticatedServer {
    let host: String
    let asker: URL
    private let accepted: URL
    private let count: URL
    private let process = Process()
    private let input = Pipe()

    var url: String { "http://" + host }

    /// - Parameter accepting: The values of the header `Authorization` that are let in.
    init(_ directory: URL, accepting: [String]) throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        accepted = directory.appendingPathExtension("accepted")
        try Data(accepting.joined(separator: "\n").utf8).write(to: accepted)
        count = directory.appendingPathExtension("questions")
        try Data().write(to: count)
        asker = directory.appendingPathExtension("asker")
        let script =
            "#!/bin/sh\necho \"$1\" >>'\(count.path)'\ncase \"$1\" in Username*) echo ada ;; *) echo secret ;; esac\n"
        try Data(script.utf8).write(to: asker)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: asker.path)
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = [
            Repository.file("Tests/Helpers/authenticated-server.py").path, directory.path, accepted.path,
        ]
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        var line = Data()
        while let byte = try output.fileHandleForReading.read(upToCount: 1), byte != Data("\n".utf8) { line += byte }
        host = "127.0.0.1:" + String(decoding: line, as: UTF8.self)
        // Nobody reads the server's lines about requests, and they must not stop it.
        output.fileHandleForReading.readabilityHandler = { if $0.availableData.isEmpty { $0.readabilityHandler = nil } }
    }

    func stop() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// How many questions the person was asked so far.
    func questions() throws -> Int { try String(contentsOf: count, encoding: .utf8).split(separator: "\n").count }
}
