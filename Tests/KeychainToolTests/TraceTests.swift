import Foundation
import KeychainTestSupport
import Testing

/// What the command is given is found in no file that it leaves, and no secret in anything that it writes.
@Suite struct TraceTests {
    private let work = NeedleWork()

    /// Every secret and passcode; attributes are what listings are for.
    private var secrets: [String: String] {
        work.needles.filter { $0.key.hasSuffix("secret") || $0.key.hasSuffix("passcode") }
    }

    private func input(_ names: String...) -> Data { Data(names.map { work.text($0) + "\n" }.joined().utf8) }

    @Test("Neither files nor output of the command have a trace of a value or a secret, done or refused")
    func commands() throws {
        let files = TraceScanner(texts: work.needles)
        let outputs = TraceScanner(texts: secrets)
        try withTool { (tool) throws in
            var written = ""
            func step(_ status: Int32, _ line: String, _ input: Data = Data()) throws {
                let outcome = try tool.run(words: words(line), input: input)
                #expect(outcome.status == status, "\(line): \(outcome.errors)")
                if !line.hasPrefix("get") {
                    #expect(outputs.traces(in: outcome.output).isEmpty, "\(line)")
                    written += outcome.text + outcome.errors
                }
                #expect(outputs.traces(in: outcome.errors).isEmpty, "\(line)")
                for directory in ["data", "state", "tmp"].map({ tool.home.appendingPathComponent($0) }) {
                    guard FileManager.default.fileExists(atPath: directory.path) else { continue }
                    #expect(try files.traces(below: directory) == [:], "\(line)")
                }
                #expect(try FileManager.default.contentsOfDirectory(atPath: tool.temporaryDirectory.path).isEmpty)
            }
            defer { for passcode in ["passcode", "second passcode"] { try? remove(passcode, tool) } }
            try step(
                0,
                "add internet --server {server} --account {account} --path {path} --label {label} --group {group} --json",
                input("secret"))
            try step(
                45, "add internet --server {server} --account {account} --path {path} --group {group}",
                input("refused secret"))
            try step(0, "find --json")
            try step(0, "find --account {account}")
            try step(44, "get internet --account {absent account}")
            try step(44, "find --group {foreign group} --json")
            try step(
                0, "update internet --account {account} --secret --set-label {second label}", input("second secret"))
            try step(64, "update internet --account {account} --port {comment}", input("refused secret"))
            try step(0, "get internet --account {account}")
            try step(0, "passcode set", input("passcode", "passcode"))
            try step(51, "passcode change", input("wrong passcode", "second passcode", "second passcode"))
            try step(0, "passcode change --rekey", input("passcode", "second passcode", "second passcode"))
            try step(0, "lock")
            try step(51, "unlock", input("wrong passcode"))
            try step(36, "find --account {account}")
            try step(36, "add internet --server {server} --account {second account}", input("locked secret"))
            try step(0, "status --json")
            try step(0, "doctor --json")
            try step(0, "delete internet --all --account {account}")
            // The control: attributes are in the listings that were searched for secrets.
            #expect(files.traces(in: written).map(\.needle).contains("account"))
            let got = try tool.run("find")
            #expect(got.status == 44)
        }
    }

    private func remove(_ passcode: String, _ tool: Tool) throws {
        try tool.run("passcode", "remove", "--yes", input: input(passcode))
    }

    /// The words of a line, with the needle of a name for `{name}`.
    private func words(_ line: String) -> [String] {
        var line = line
        for (name, text) in work.needles { line = line.replacingOccurrences(of: "{\(name)}", with: text) }
        return line.split(separator: " ").map(String.init)
    }
}
