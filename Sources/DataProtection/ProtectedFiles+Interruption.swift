internal import Foundation
internal import Glibc

extension ProtectedFiles {
    /// Whether a file of this name is being written and has not its own name yet, or was left by a program that was killed.
    package static func isUnfinished(_ name: String) -> Bool { Replacement.isName(name) }

    /// Removes what calls in progress of this process have written so far. For a process that ends now: no such call
    /// may go on.
    package static func removeUnfinished() {
        let open = "/proc/self/fd"
        for number in (try? FileManager.default.contentsOfDirectory(atPath: open)) ?? [] {
            // Once a file has its own name, that is what the kernel says here.
            guard let path = try? FileManager.default.destinationOfSymbolicLink(atPath: open + "/" + number),
                Replacement.isName(FilePath.name(of: path))
            else { continue }
            unlink(path)
        }
    }
}
