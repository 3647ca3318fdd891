internal import CKeychainLinux
internal import KeychainModel

/// A fixed number of bytes on their way to being a secret. They never move to other memory and are erased at the end.
final class ErasedBuffer {
    private let storage: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init(capacity: Int) { storage = .allocate(byteCount: capacity, alignment: 16) }

    deinit {
        ckeychain_erase(storage.baseAddress, storage.count)
        storage.deallocate()
    }

    var isFull: Bool { count == storage.count }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: storage[..<count]) }

    /// Space for the next bytes.
    var room: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(rebasing: storage[count...]) }

    func advance(by length: Int) { count += length }

    /// - Returns: false if there is no room for it.
    func append(_ byte: UInt8) -> Bool {
        if isFull { return false }
        storage[count] = byte
        count += 1
        return true
    }

    /// Forgets the bytes behind the first so many.
    func truncate(to length: Int) {
        ckeychain_erase(storage.baseAddress.map { $0 + length }, count - length)
        count = length
    }

    /// Forgets the first so many bytes; the others move to their place.
    func removeFirst(_ length: Int) {
        let rest = UnsafeRawBufferPointer(rebasing: storage[length..<count])
        UnsafeMutableRawBufferPointer(rebasing: storage[..<rest.count]).copyMemory(from: rest)
        truncate(to: rest.count)
    }

    func secret() -> SecretBytes { SecretBytes(copying: bytes) }
}
