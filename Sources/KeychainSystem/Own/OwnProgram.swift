internal import FoundationEssentials
internal import KeychainModel

/// The program that this process runs.
package enum OwnProgram {
    /// `/proc/self/exe` rather than the name the program was called by, which its caller chose.
    package static var path: String {
        do {
            return withoutDeletionMark(try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        } catch {
            return CommandLine.arguments.first ?? "unknown"
        }
    }

    /// The kernel marks the name of a program that was replaced while it runs, by an upgrade for instance. It is
    /// still the same program, with the same groups.
    package static func withoutDeletionMark(_ path: String) -> String {
        let mark = " (deleted)"
        guard path.hasSuffix(mark), !FilePath.exists(path) else { return path }
        return String(path.dropLast(mark.count))
    }

    /// The sentence for a store that a newer release has written to. It ends without a full stop.
    package static var isTooOld: String {
        "\(path) has release \(Release.version) of swift-keychain inside: update that program, or build it anew with a "
            + "newer release"
    }
}
