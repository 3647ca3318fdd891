package import Foundation

/// The programs of this package. The build puts all of them into one directory, that of the program that runs.
package enum BuiltProducts {
    private static let directory = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent()

    package static func url(of name: String) -> URL { directory.appendingPathComponent(name) }
}
