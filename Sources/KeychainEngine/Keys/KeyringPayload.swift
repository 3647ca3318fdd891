internal import Foundation

/// The content of a key in the kernel's keyring: the place of the store's directory, and the sealed keys.
struct KeyringPayload {
    private static let mostPlaceBytes = 1_024
    /// Of the keys of all generations that a keybag can have in use.
    private static let mostSealedBytes = 1_024
    static let mostBytes = 2 + mostPlaceBytes + mostSealedBytes

    /// As ``place(of:)``; empty for one that is too long to be kept.
    let place: String
    let sealed: UnsafeRawBufferPointer

    static func bytes(of sealed: Data, in directory: URL) -> Data {
        let place = Data(place(of: directory.path).utf8)
        let kept = place.count <= mostPlaceBytes ? place : Data()
        return withUnsafeBytes(of: UInt16(kept.count).bigEndian) { Data($0) } + kept + sealed
    }

    /// The mount namespace, by what the kernel calls it, and the path there: another one shares the keyring, and may have
    /// something else at the same path.
    private static func place(of path: String) -> String {
        let namespace = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/mnt")
        return (namespace ?? "") + path
    }

    /// The path of the store's directory; nil: that is another mount namespace's, or not known.
    var path: String? {
        let prefix = Self.place(of: "")
        return prefix.isEmpty || !place.hasPrefix(prefix + "/") ? nil : String(place.dropFirst(prefix.count))
    }

    /// nil for what is none.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 2 else { return nil }
        let start = 2 + Int(UInt16(bigEndian: bytes.loadUnaligned(as: UInt16.self)))
        guard bytes.count >= start else { return nil }
        place = String(decoding: bytes[2..<start], as: UTF8.self)
        sealed = UnsafeRawBufferPointer(rebasing: bytes[start...])
    }
}
