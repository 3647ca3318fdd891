internal import Foundation
internal import Glibc

extension ProtectedFiles {
    /// How the names of files begin that are being written and have not their own name yet.
    package static var unfinishedPrefix: String { Replacement.prefix }

    /// Removes what calls in progress of this process have written so far. For a process that ends now: no such call
    /// may go on.
    package static func removeUnfinished() {
        let open = "/proc/self/fd"
        for number in (try? FileManager.default.contentsOfDirectory(atPath: open)) ?? [] {
            // Once a file has its own name, that is what the kernel says here.
            guard let path = try? FileManager.default.destinationOfSymbolicLink(atPath: open + "/" + number),
                FilePath.name(of: path).hasPrefix(Replacement.prefix)
            else { continue }
            unlink(path)
        }
    }
}
