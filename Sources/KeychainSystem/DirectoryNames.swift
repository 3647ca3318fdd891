internal import Glibc

/// The names in a directory, as the bytes that they are to the system, without `.` and `..`.
package struct DirectoryNames {
    package private(set) var names: [[UInt8]] = []
    /// Why the reading ended early, as an errno value; 0: it did not.
    package private(set) var failure: Int32 = 0

    /// - Parameter descriptor: The directory, open for reading. It is closed.
    /// - Returns: nil if it cannot be read, and stays open; `errno` says why.
    package init?(closing descriptor: Int32) {
        guard descriptor >= 0, let stream = fdopendir(descriptor) else { return nil }
        defer { closedir(stream) }
        errno = 0
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in Array(bytes.prefix { $0 != 0 }) }
            if name != [0x2e] && name != [0x2e, 0x2e] { names.append(name) }
            errno = 0
        }
        failure = errno
    }
}
