import Foundation

/// Uses every member that the plugin AppleCompatibility adds to a target, as code for Apple's platforms does, which
/// imports Foundation and nothing else. What is on the disk is read with open(2) and read(2).
///
/// Prints a sentence for each member, and ends with status 1 at the first one that is untrue. The keychain and the files
/// are in a new directory, which is removed at the end.
@main
struct Program {
    static func main() {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        setenv("KEYCHAIN_HOME", directory.appendingPathComponent("store").path, 1)
        setenv("XDG_STATE_HOME", directory.appendingPathComponent("state").path, 1)
        let result = Result {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            try Members(desk: Desk(directory: directory)).useAll()
        }
        do {
            try FileManager.default.removeItem(at: directory)
            try result.get()
        } catch {
            FileHandle.standardError.write(Data("FoundationMembers: \(error)\n".utf8))
            exit(1)
        }
    }
}
