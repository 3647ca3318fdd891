import Foundation
import Glibc
import KeychainModel
import KeychainPrompt
import KeychainTestSupport

/// A program that speaks the protocol of a pinentry, or does not, as a test tells it.
struct FakePinentry {
    let directory: URL
    private let news: FileHandle

    /// - Parameter scenario: Python. It may set `greeting`, and `answer(command, line)`, which returns the lines to say
    ///   (None: "OK"). `say` says something at once, `tell` wakes the test that waits in ``awaitNews()``.
    init(_ scenario: String, in directory: URL) throws {
        self.directory = directory
        try Data(Self.script.utf8).write(to: directory.appendingPathComponent("pinentry"))
        try Data(scenario.utf8).write(to: directory.appendingPathComponent("scenario"))
        chmod(directory.appendingPathComponent("pinentry").path, 0o755)
        let pipe = directory.appendingPathComponent("news").path
        mkfifo(pipe, 0o600)
        // Open for writing too, so that neither end waits for the other or sees an end.
        news = FileHandle(fileDescriptor: open(pipe, O_RDWR | O_CLOEXEC), closeOnDealloc: true)
    }

    private static let script = """
        #!/usr/bin/python3
        import os, signal, sys
        here = os.path.dirname(os.path.abspath(sys.argv[0]))
        log = open(here + "/log", "ab", 0)
        def note(text): log.write(text.encode() + b"\\n")
        def tell():
            with open(here + "/news", "wb", 0) as news: news.write(b"x")
        def say(*lines):
            for line in lines:
                line = (line if isinstance(line, bytes) else line.encode()) + b"\\n"
                while line: line = line[os.write(1, line):]
        greeting = ["OK at your service"]
        def answer(command, line): return None
        note("PID %d" % os.getpid())
        exec(open(here + "/scenario").read())
        say(*greeting)
        for line in iter(sys.stdin.buffer.readline, b""):
            line = line.decode().rstrip("\\n")
            note(line)
            lines = answer(line.split(" ")[0], line)
            say(*(["OK"] if lines is None else lines))
            if line == "BYE": break
        """

    var path: String { directory.appendingPathComponent("pinentry").path }

    /// Nothing but this program is there to ask with, and nothing of other tests is waited for.
    var configuration: PromptConfiguration {
        var configuration = PromptConfiguration(variables: ["KEYCHAIN_PINENTRY": path, "PATH": ""])
        configuration.terminal = "/nonexistent"
        configuration.turn = PromptTurn()
        return configuration
    }

    var prompter: PinentryPrompter { PinentryPrompter(configuration) }

    /// Waits until the program has called `tell`.
    func awaitNews() throws {
        var waiting = pollfd(fd: news.fileDescriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, 60_000) == 1 else { throw TookTooLong() }
        _ = try news.read(upToCount: 1)
    }

    /// What it was told and what it noted.
    var log: [String] {
        get throws {
            let data = try Data(contentsOf: directory.appendingPathComponent("log"))
            return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
        }
    }

    /// What it was told with a command, each time.
    func told(_ command: String) throws -> [String] {
        try log.filter { $0 == command || $0.hasPrefix(command + " ") }.map { String($0.dropFirst(command.count + 1)) }
    }

    /// Those that were started.
    var processes: [pid_t] { get throws { try told("PID").compactMap { pid_t($0) } } }

    /// Whether none of them is there any more, not even as a zombie.
    var isGone: Bool { get throws { try processes.allSatisfy { kill($0, 0) != 0 && errno == ESRCH } } }
}

func withFakePinentry(_ scenario: String = "", _ body: (FakePinentry) throws -> Void) throws {
    try withTemporaryDirectory { try body(FakePinentry(scenario, in: $0)) }
}
