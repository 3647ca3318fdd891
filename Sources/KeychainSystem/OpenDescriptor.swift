internal import Glibc

/// A descriptor that is closed with the last reference to it.
package final class OpenDescriptor: Sendable {
    package let number: Int32

    package init(_ number: Int32) { self.number = number }

    deinit { close(number) }

    /// The bytes from the present place to the end of the file, or of what comes through a pipe.
    ///
    /// - Parameter most: Reading ends when there are as many bytes, or a few more.
    /// - Returns: nil if reading failed; `errno` says why.
    package static func content(of number: Int32, most: Int = .max) -> [UInt8]? {
        var content: [UInt8] = []
        var part = [UInt8](repeating: 0, count: min(most, 1 << 16))
        while content.count < most {
            let count = read(number, &part, part.count)
            if count > 0 { content += part[..<count] }
            if count == 0 { return content }
            if count < 0 && errno != EINTR { return nil }
        }
        return content
    }
}

extension UnsafeRawBufferPointer {
    /// Writes all the bytes.
    ///
    /// - Returns: 0 or an errno value.
    package func write(to descriptor: Int32) -> Int32 {
        var rest = self[...]
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }
}
