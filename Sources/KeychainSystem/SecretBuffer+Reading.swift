internal import Glibc
package import KeychainModel

extension SecretBuffer {
    /// Reads the next bytes of a descriptor.
    ///
    /// - Parameter failure: Makes the caller's error of an errno value.
    /// - Returns: false at the end of the input.
    package func fill(from descriptor: Int32, failure: (Int32) -> any Error) throws -> Bool {
        let room = room()
        let length = read(descriptor, room.baseAddress, room.count)
        if length < 0 {
            if errno == EINTR { return true }
            throw failure(errno)
        }
        advance(by: length)
        return length > 0
    }
}
