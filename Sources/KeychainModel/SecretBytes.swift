package import FoundationEssentials
internal import Glibc

/// A secret on its way through the system: one owner of the memory, erased when the last reference goes.
///
/// It cannot be printed: every textual form is `<REDACTED>`. It does *not* follow the copies that a caller makes of its
/// bytes.
package final class SecretBytes: @unchecked Sendable {  // immutable after init, so sharing is safe
    private let storage: UnsafeMutableRawBufferPointer
    /// The memory behind so many bytes was never written.
    private let writtenCount: Int

    package var count: Int { storage.count }

    /// Allocates `count` bytes and lets `initialize` fill them. If it throws, `deinit` erases and frees them.
    package init<E: Error>(
        count: Int, initializingWith initialize: (UnsafeMutableRawBufferPointer) throws(E) -> Void
    ) throws(E) {
        storage = .allocate(byteCount: count, alignment: 16)
        writtenCount = count
        try initialize(storage)
    }

    /// Allocates `count` bytes for content from elsewhere, which may never come.
    ///
    /// - Parameter receive: Returns how many of them came, from the beginning on. Memory that it does not reach is not
    ///   touched when the rest is erased, and so takes no page of the system's.
    package init(expecting count: Int, receivingWith receive: (UnsafeMutableRawBufferPointer) -> Int) {
        storage = .allocate(byteCount: count, alignment: 16)
        writtenCount = receive(storage)
    }

    package convenience init(copying bytes: UnsafeRawBufferPointer) {
        self.init(count: bytes.count) { $0.copyMemory(from: bytes) }
    }

    package convenience init(copying data: Data) {
        self.init(count: data.count) { target in
            data.withUnsafeBytes { target.copyMemory(from: $0) }
        }
    }

    deinit {
        if let start = storage.baseAddress { explicit_bzero(start, writtenCount) }
        storage.deallocate()
    }

    package func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try body(UnsafeRawBufferPointer(storage))
    }

    /// A copy that is no longer erased: for handing a secret to the program that asked for it.
    package func copyData() -> Data { Data(storage) }
}

extension SecretBytes: Redacted {}

/// A value that no print, dump or message shows.
package protocol Redacted: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Redacted {
    package var description: String { "<REDACTED>" }
    package var debugDescription: String { "<REDACTED>" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
