internal import Glibc
internal import KeychainModel

/// Bytes that grow, with nothing left behind where they were before.
final class SecretBuffer {
    private var storage: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init() { storage = .allocate(byteCount: 16 << 10, alignment: 16) }

    deinit { Self.release(storage) }

    /// Space for what comes next, never empty.
    func room() -> UnsafeMutableRawBufferPointer {
        if count == storage.count {
            let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: storage.count * 2, alignment: 16)
            larger.copyMemory(from: UnsafeRawBufferPointer(storage))
            Self.release(storage)
            storage = larger
        }
        return UnsafeMutableRawBufferPointer(rebasing: storage[count...])
    }

    func advance(by length: Int) { count += length }

    /// Reads what there is to read next.
    ///
    /// - Parameter failure: What an errno value is to the caller.
    /// - Returns: false at the end of the input.
    func fill(from descriptor: Int32, failure: (Int32) -> any Error) throws -> Bool {
        let room = room()
        let length = read(descriptor, room.baseAddress, room.count)
        if length < 0 {
            if errno == EINTR { return true }
            throw failure(errno)
        }
        advance(by: length)
        return length > 0
    }

    /// Whether one of some bytes is among those that are there.
    func containsAny(of bytes: [UInt8]) -> Bool { storage[..<count].contains(where: bytes.contains) }

    func removeAll() {
        explicit_bzero(storage.baseAddress!, storage.count)  // never empty
        count = 0
    }

    var last: UInt8? { count == 0 ? nil : storage[count - 1] }

    /// A copy of what is there, less the given number of bytes at the end.
    func secret(droppingLast dropped: Int = 0) -> SecretBytes {
        SecretBytes(copying: UnsafeRawBufferPointer(rebasing: storage[..<(count - dropped)]))
    }

    private static func release(_ bytes: UnsafeMutableRawBufferPointer) {
        explicit_bzero(bytes.baseAddress!, bytes.count)  // never empty
        bytes.deallocate()
    }
}
