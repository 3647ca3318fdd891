internal import FoundationEssentials

/// The content of a key in the kernel's keyring: the place of the store's directory, and the sealed keys.
struct KeyringPayload {
    private static let mostPlaceBytes = 1_024
    /// The size of the keys of all generations that a keybag can have in use.
    private static let mostSealedBytes = 1_024
    static let mostBytes = 2 + mostPlaceBytes + mostSealedBytes

    /// The result of ``place(of:)``; empty if that is too long to be kept.
    let place: String
    let sealed: UnsafeRawBufferPointer

    static func bytes(of sealed: Data, in directory: URL) -> Data {
        let place = Data(place(of: directory.path).utf8)
        let kept = place.count <= mostPlaceBytes ? place : Data()
        return withUnsafeBytes(of: UInt16(kept.count).bigEndian) { Data($0) } + kept + sealed
    }

    /// The kernel's name of the mount namespace, and the path there: another namespace shares the keyring, and may have
    /// another directory at the same path.
    private static func place(of path: String) -> String {
        let namespace = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/mnt")
        return (namespace ?? "") + path
    }

    /// The path of the store's directory; nil if it is unknown, or in another mount namespace.
    var path: String? {
        let prefix = Self.place(of: "")
        return prefix.isEmpty || !place.hasPrefix(prefix + "/") ? nil : String(place.dropFirst(prefix.count))
    }

    /// nil if the bytes are no payload.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 2 else { return nil }
        let start = 2 + Int(UInt16(bigEndian: bytes.loadUnaligned(as: UInt16.self)))
        guard bytes.count >= start else { return nil }
        place = String(decoding: bytes[2..<start], as: UTF8.self)
        sealed = UnsafeRawBufferPointer(rebasing: bytes[start...])
    }
}
