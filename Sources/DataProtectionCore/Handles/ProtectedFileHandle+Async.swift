public import FoundationEssentials
internal import KeychainClient
public import SealedFiles

/// Calls for tasks.
///
/// Each of them waits on a thread that may block, never on one that runs tasks. A call is carried out even if its task
/// is cancelled, so that the program always learns whether the file was changed. Results and errors are those of the
/// form that blocks. In an asynchronous function the compiler chooses the form for tasks.
extension ProtectedFileHandle {
    /// Reads bytes from a place without blocking the thread of the task. A cancelled task gets the bytes too.
    public func read(at offset: UInt64, count: Int) async throws(DataProtectionError) -> Data {
        try await BlockingCalls.shared.run { [self] () throws(DataProtectionError) in try read(at: offset, count: count)
        }
    }

    /// Writes bytes at a place without blocking the thread of the task. The write is finished even if the task is
    /// cancelled meanwhile.
    public func write(_ data: Data, at offset: UInt64) async throws(DataProtectionError) {
        try await BlockingCalls.shared.run { [self] () throws(DataProtectionError) in try write(data, at: offset) }
    }

    /// Adds bytes to the end without blocking the thread of the task. Calls of several tasks come one after the other in
    /// no particular order.
    ///
    /// - Returns: The place of the first byte, counted from the beginning of the content.
    @discardableResult
    public func append(_ data: Data) async throws(DataProtectionError) -> UInt64 {
        try await BlockingCalls.shared.run { [self] () throws(DataProtectionError) in try append(data) }
    }

    /// Makes the content shorter or longer without blocking the thread of the task. Bytes that are added are zeros.
    public func truncate(to length: UInt64) async throws(DataProtectionError) {
        try await BlockingCalls.shared.run { [self] () throws(DataProtectionError) in try truncate(to: length) }
    }

    /// Waits until the disk has everything that was written, without blocking the thread of the task. A cancelled task
    /// waits too, so that the answer is certain.
    public func sync() async throws(DataProtectionError) {
        try await BlockingCalls.shared.run { [self] () throws(DataProtectionError) in try sync() }
    }

    /// Makes durable what was written and closes the file, without blocking the thread of the task. A cancelled task
    /// closes the file too.
    public func close() async throws(DataProtectionError) {
        try await BlockingCalls.shared.run { [self] () throws(DataProtectionError) in try close() }
    }

    /// A sequence of the bytes from a place to the end.
    ///
    /// ```swift
    /// for try await byte in handle.bytes() { parser.feed(byte) }
    /// ```
    ///
    /// Each part of 64 KiB is as it is when the sequence reaches it. Content that must be of one version is read with
    /// one call of `read(at:count:)`.
    ///
    /// - Parameter offset: The place of the first byte, counted from the beginning of the content.
    public func bytes(from offset: UInt64 = 0) -> ProtectedFileBytes { ProtectedFileBytes(self, offset) }
}

/// The bytes of a protected file, one after the other, read in parts of 64 KiB.
///
/// The sequence keeps the handle open. It ends where the content ends at that moment, so a later iterator sees bytes
/// that were added since.
public struct ProtectedFileBytes: AsyncSequence, Sendable {
    /// An element is one byte of the content.
    public typealias Element = UInt8
    /// The error is that of the read that failed, with `.locked` while the class forbids reading.
    public typealias Failure = DataProtectionError

    private let handle: ProtectedFileHandle
    private let offset: UInt64

    init(_ handle: ProtectedFileHandle, _ offset: UInt64) {
        self.handle = handle
        self.offset = offset
    }

    /// Makes an iterator that begins at the sequence's place. Several iterators do not disturb each other.
    public func makeAsyncIterator() -> Iterator { Iterator(handle: handle, offset: offset) }

    /// An iterator over the bytes of a protected file. It holds at most 64 KiB of content in memory, which is not
    /// erased.
    public struct Iterator: AsyncIteratorProtocol {
        private static let partSize = 64 << 10

        fileprivate let handle: ProtectedFileHandle
        /// The place behind the part that is in memory.
        fileprivate var offset: UInt64
        private var part = Data()
        private var index = 0

        fileprivate init(handle: ProtectedFileHandle, offset: UInt64) {
            self.handle = handle
            self.offset = offset
        }

        /// The next byte, read without blocking the thread of the task.
        ///
        /// - Returns: `nil` at the end of the content.
        /// - Throws: `.locked` and the other errors of reading. A later call tries again at the byte that failed.
        public mutating func next() async throws(DataProtectionError) -> UInt8? { try await next(isolation: nil) }

        /// The next byte, read without blocking the thread of the task.
        ///
        /// - Parameter actor: The actor that the call stays on.
        /// - Returns: `nil` at the end of the content.
        /// - Throws: `.locked` and the other errors of reading. A later call tries again at the byte that failed.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(DataProtectionError) -> UInt8? {
            if index == part.count {
                let next = try await handle.read(at: offset, count: Self.partSize)
                guard !next.isEmpty else { return nil }
                offset += UInt64(next.count)
                part = next
                index = 0
            }
            defer { index += 1 }
            return part[part.startIndex + index]
        }
    }
}
