internal import CKeychainFuse
internal import Glibc

/// An answer, which is put together in the memory of one thread.
struct Reply: ~Copyable {
    static let headerSize = MemoryLayout<fuse_out_header>.size

    private let memory: UnsafeMutableRawBufferPointer
    /// The number of bytes of the answer.
    private var count = headerSize

    init(in memory: UnsafeMutableRawBufferPointer) { self.memory = memory }

    /// The number of bytes behind the header.
    var payload: Int { count - Self.headerSize }

    /// The memory that is not used yet.
    var room: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(rebasing: memory[count...]) }

    /// Takes bytes into the answer that were put in ``room``.
    mutating func add(_ added: Int) { count += min(max(added, 0), memory.count - count) }

    mutating func add<T: BitwiseCopyable>(_ value: T) throws(Refusal) {
        guard room.count >= MemoryLayout<T>.size else { throw Refusal(ERANGE) }
        withUnsafeBytes(of: value) { room.copyMemory(from: $0) }
        add(MemoryLayout<T>.size)
    }

    mutating func add(_ bytes: UnsafeRawBufferPointer) throws(Refusal) {
        guard room.count >= bytes.count else { throw Refusal(ERANGE) }
        room.copyMemory(from: bytes)
        add(bytes.count)
    }

    /// The whole answer.
    ///
    /// - Parameter refusal: `nil` means success. Otherwise nothing but the header is sent.
    mutating func finished(_ unique: UInt64, _ refusal: Refusal?) -> UnsafeRawBufferPointer {
        if refusal != nil { count = Self.headerSize }
        let header = fuse_out_header(len: UInt32(count), error: -(refusal?.number ?? 0), unique: unique)
        withUnsafeBytes(of: header) { memory.copyMemory(from: $0) }
        return UnsafeRawBufferPointer(rebasing: memory[..<count])
    }
}
