import Foundation
import Story

/// `PrivateNotes`                 goes through everything once and leaves nothing behind
/// `PrivateNotes write FILE`      writes what standard input holds into a protected file
/// `PrivateNotes protect FILE`    protects a plain file
/// `PrivateNotes read FILE`       prints it again
@main
struct Program {
    static func main() {
        story(run)
    }

    private static func run() throws {
        let words = Array(CommandLine.arguments.dropFirst())
        guard let command = words.first else { return try tourInNewDirectory() }
        guard words.count == 2 else { stop("usage: PrivateNotes [write FILE | protect FILE | read FILE]") }
        let file = URL(fileURLWithPath: words[1])
        let notebook = Notebook(directory: file.deletingLastPathComponent())
        switch command {
        case "write": try notebook.write(readLine() ?? "", to: file)
        case "protect": try notebook.protect(file)
        case "read": print(try notebook.text(of: file))
        default: stop("usage: PrivateNotes [write FILE | protect FILE | read FILE]")
        }
    }

    private static func tourInNewDirectory() throws {
        let manager = FileManager.default
        let directory = manager.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try manager.createDirectory(at: directory, withIntermediateDirectories: true)
        let result = Result { try tour(Notebook(directory: directory)) }
        try manager.removeItem(at: directory)
        try result.get()
    }

    private static func tour(_ notebook: Notebook) throws {
        let diary = notebook.url(of: "diary")
        try notebook.write("Dear diary", to: diary)
        tell("A note that was written with protection reads as it was.", try notebook.text(of: diary) == "Dear diary")
        tell("Its class is complete protection.", try isComplete(diary, in: notebook))
        try "Dear diary, again".write(to: diary, atomically: true, encoding: .utf8)
        tell("Written anew it is protected still.", try isComplete(diary, in: notebook))

        let letter = notebook.url(of: "letter")
        try Data("Dear friend".utf8).write(to: letter)
        try notebook.protect(letter)
        tell("An older note can be protected afterwards.", try isComplete(letter, in: notebook))
        tell("And reads as it was.", try Data(contentsOf: letter) == Data("Dear friend".utf8))
        tell("Its size is that of the text.", try size(of: letter) == 11)

        let draft = notebook.url(of: "draft")
        let attributes: [FileAttributeKey: Any] = [
            .protectionKey: FileProtectionType.completeUntilFirstUserAuthentication
        ]
        tell(
            "A file can be created with a class.",
            FileManager.default.createFile(atPath: draft.path, contents: Data("Dear".utf8), attributes: attributes))
        try FileManager.default.setAttributes([.protectionKey: FileProtectionType.complete], ofItemAtPath: draft.path)
        tell("And be given another.", try isComplete(draft, in: notebook))
        tell(
            "Resource values tell it too.",
            try draft.resourceValues(forKeys: [.fileProtectionKey]).fileProtection == .complete)

        let attempt = Result { try notebook.text(of: notebook.url(of: "missing")) }
        tell("A note that was never written is missing.", isMissing(attempt))
    }

    private static func isComplete(_ file: URL, in notebook: Notebook) throws -> Bool {
        try notebook.protection(of: file)?.rawValue == FileProtectionType.complete.rawValue
    }

    private static func size(of file: URL) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int
    }

    private static func isMissing(_ attempt: Result<String, any Error>) -> Bool {
        guard case .failure(let error as CocoaError) = attempt else { return false }
        return error.code == .fileReadNoSuchFile
    }
}
