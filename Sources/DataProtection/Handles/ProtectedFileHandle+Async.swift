public import Foundation
internal import SwiftKeychain

/// For tasks: each call blocks a thread of its own kind, never one of those that run tasks. It is carried out also if the
/// task is cancelled meanwhile.
extension ProtectedFileHandle {
    public func read(at offset: UInt64, count: Int) async throws(DataProtectionError) -> Data {
        try await BlockingCalls.run { [self] () throws(DataProtectionError) in try read(at: offset, count: count) }
    }

    public func write(_ data: Data, at offset: UInt64) async throws(DataProtectionError) {
        try await BlockingCalls.run { [self] () throws(DataProtectionError) in try write(data, at: offset) }
    }

    @discardableResult
    public func append(_ data: Data) async throws(DataProtectionError) -> UInt64 {
        try await BlockingCalls.run { [self] () throws(DataProtectionError) in try append(data) }
    }

    public func truncate(to length: UInt64) async throws(DataProtectionError) {
        try await BlockingCalls.run { [self] () throws(DataProtectionError) in try truncate(to: length) }
    }

    public func sync() async throws(DataProtectionError) {
        try await BlockingCalls.run { [self] () throws(DataProtectionError) in try sync() }
    }

    public func close() async throws(DataProtectionError) {
        try await BlockingCalls.run { [self] () throws(DataProtectionError) in try close() }
    }

    /// The content from a place to the end, as it is when it is reached.
    ///
    /// ```swift
    /// for try await byte in handle.bytes() { parser.feed(byte) }
    /// ```
    public func bytes(from offset: UInt64 = 0) -> ProtectedFileBytes { ProtectedFileBytes(self, offset) }
}

/// The bytes of a protected file, one after the other; read in parts of 64 KiB.
public struct ProtectedFileBytes: AsyncSequence, Sendable {
    public typealias Element = UInt8
    public typealias Failure = DataProtectionError

    private let handle: ProtectedFileHandle
    private let offset: UInt64

    init(_ handle: ProtectedFileHandle, _ offset: UInt64) {
        self.handle = handle
        self.offset = offset
    }

    public func makeAsyncIterator() -> Iterator { Iterator(handle: handle, offset: offset) }

    public struct Iterator: AsyncIteratorProtocol {
        private static let partSize = 64 << 10

        fileprivate let handle: ProtectedFileHandle
        /// Of what comes behind the present part.
        fileprivate var offset: UInt64
        private var part = Data()
        private var index = 0

        fileprivate init(handle: ProtectedFileHandle, offset: UInt64) {
            self.handle = handle
            self.offset = offset
        }

        /// - Throws: `.locked` and everything else that reading throws. The sequence can be gone on with afterwards.
        public mutating func next() async throws(DataProtectionError) -> UInt8? { try await next(isolation: nil) }

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
