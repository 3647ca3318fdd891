package import FoundationEssentials

/// Reads fields one after the other from bytes that may be anything.
package struct ByteReader {
    private var rest: Data

    package init(_ data: Data) { rest = data }

    package var remaining: Int { rest.count }

    /// nil, and nothing consumed, if fewer bytes are left.
    package mutating func take(_ count: Int) -> Data? {
        guard count >= 0, rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Data(rest.prefix(count))
    }

    /// Reads a big-endian integer.
    package mutating func integer<T: FixedWidthInteger>(_: T.Type) -> T? {
        take(MemoryLayout<T>.size).map { $0.reduce(T(0)) { T(truncatingIfNeeded: UInt64($0) << 8) | T($1) } }
    }

    package mutating func identifier() -> UUID? {
        take(16).map { data in
            UUID(uuid: data.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
        }
    }
}
