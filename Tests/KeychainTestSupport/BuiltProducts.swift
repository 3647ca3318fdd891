package import Foundation

/// The programs of this package. The build puts all of them into one directory, that of the program that runs.
package enum BuiltProducts {
    private static let directory = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent()

    /// Where the programs are that people install. `KEYCHAIN_PROGRAMS` names the directory of optimised ones, which start
    /// in a fraction of the time (`Scripts/programs`).
    package static let installed =
        ProcessInfo.processInfo.environment["KEYCHAIN_PROGRAMS"].map { URL(fileURLWithPath: $0) } ?? directory

    package static func url(of name: String) -> URL {
        let isInstalled = ["keychainctl", "keychaind"].contains(name)
        return (isInstalled ? installed : directory).appendingPathComponent(name)
    }
}
