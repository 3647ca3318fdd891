import Foundation
import Story

/// The same calls without the plugin: Scripts/check-examples compares what is on the disk.
///
/// `PlainNotes write FILE`   asks for protection, which Foundation on Linux accepts and does not give
/// `PlainNotes read FILE`    prints what the file holds
@main
struct Program {
    static func main() {
        story {
            let words = Array(CommandLine.arguments.dropFirst())
            guard words.count == 2 else { stop("usage: PlainNotes [write FILE | read FILE]") }
            let file = URL(fileURLWithPath: words[1])
            if words[0] == "write" {
                try Data((readLine() ?? "").utf8).write(to: file, options: .completeFileProtection)
            } else {
                FileHandle.standardOutput.write(try Data(contentsOf: file))
            }
        }
    }
}
