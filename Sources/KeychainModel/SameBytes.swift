package import FoundationEssentials
internal import Glibc

extension UnsafeRawBufferPointer {
    /// The comparison takes a time that depends on the bytes: it is not for bytes that the other side must not learn.
    package func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
        guard let mine = baseAddress, let others = other.baseAddress, count == other.count else {
            return count == other.count
        }
        return memcmp(mine, others, count) == 0
    }
}

extension String {
    /// Whether both are the same in UTF-8. Swift's `==` takes two spellings of one text, é as one character or as two, for
    /// equal.
    package func hasSameBytes(as other: String) -> Bool {
        var (mine, others) = (self, other)
        return mine.withUTF8 { mine in
            others.withUTF8 { UnsafeRawBufferPointer(mine).hasSameBytes(as: UnsafeRawBufferPointer($0)) }
        }
    }

    package func hasSameBytes(as data: Data) -> Bool {
        var mine = self
        return mine.withUTF8 { mine in data.withUnsafeBytes { UnsafeRawBufferPointer(mine).hasSameBytes(as: $0) } }
    }
}

extension SecretBytes {
    package func hasSameBytes(as other: SecretBytes) -> Bool {
        withUnsafeBytes { bytes in other.withUnsafeBytes { bytes.hasSameBytes(as: $0) } }
    }
}
