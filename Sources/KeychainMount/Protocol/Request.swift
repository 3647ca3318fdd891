internal import CKeychainFuse
internal import Glibc

/// A request of the kernel: a header, and arguments that are taken one after the other. No argument reaches beyond the bytes.
struct Request {
    let header: fuse_in_header
    /// The bytes that were not taken yet.
    private(set) var rest: UnsafeRawBufferPointer

    /// - Returns: `nil` for bytes that are no request, to which there is no answer.
    init?(_ bytes: UnsafeRawBufferPointer) {
        let size = MemoryLayout<fuse_in_header>.size
        guard bytes.count >= size else { return nil }
        header = bytes.loadUnaligned(as: fuse_in_header.self)
        guard Int(header.len) == bytes.count else { return nil }
        rest = UnsafeRawBufferPointer(rebasing: bytes[size...])
    }

    /// Takes a structure of `<linux/fuse.h>`.
    mutating func take<T: BitwiseCopyable>(_: T.Type = T.self) throws(Refusal) -> T {
        try takeBytes(MemoryLayout<T>.size).loadUnaligned(as: T.self)
    }

    /// Takes text that ends with a zero, and points into the request.
    mutating func takeText() throws(Refusal) -> UnsafePointer<CChar> {
        guard let end = rest.firstIndex(of: 0), let base = rest.baseAddress else { throw Refusal(EINVAL) }
        rest = UnsafeRawBufferPointer(rebasing: rest[(end + 1)...])
        return base.assumingMemoryBound(to: CChar.self)
    }

    /// Takes the name of an entry of a directory: one component that leads to nowhere else.
    mutating func takeName() throws(Refusal) -> UnsafePointer<CChar> {
        let name = try takeText()
        let isName = name[0] != 0 && strchr(name, 0x2f) == nil && strcmp(name, ".") != 0 && strcmp(name, "..") != 0
        guard isName else { throw Refusal(EINVAL) }
        return name
    }

    /// Takes bytes.
    mutating func takeBytes(_ count: Int) throws(Refusal) -> UnsafeRawBufferPointer {
        guard count >= 0, rest.count >= count else { throw Refusal(EINVAL) }
        defer { rest = UnsafeRawBufferPointer(rebasing: rest[count...]) }
        return UnsafeRawBufferPointer(rebasing: rest[..<count])
    }
}
