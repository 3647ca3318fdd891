package import Foundation

/// The files of this repository that tests read: vectors, fixtures, documents, scripts.
package enum Repository {
    /// Where it was compiled, or `KEYCHAIN_REPOSITORY`, for a copy that another user can read.
    private static let directory =
        ProcessInfo.processInfo.environment["KEYCHAIN_REPOSITORY"].map { URL(filePath: $0) }
        ?? URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    package static func file(_ path: String) -> URL { directory.appending(path: path) }
}
