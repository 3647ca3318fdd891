import Foundation

/// How many descriptors of this process lead to a pipe, either end of it.
///
/// - Parameter descriptor: One of them.
func descriptorCount(ofPipe descriptor: Int32) throws -> Int {
    let manager = FileManager.default
    let links = try manager.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
        // Others are closed meanwhile.
        try? manager.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
    }
    let name = try manager.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
    return links.count { $0 == name }
}
