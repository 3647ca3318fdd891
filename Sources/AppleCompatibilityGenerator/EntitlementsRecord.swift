import Foundation

/// The record that the linker collects in the section that `ckeychain_embedded_entitlements` returns at run time.
///
/// Little-endian words of 64 bits: the magic number, the length of the payload in bytes with the kind in
/// the upper half, then the payload, padded with zero bytes to a whole word.
struct EntitlementsRecord {
    /// The owner of the entitlements: a program's own come before those of a library it contains.
    enum Kind: UInt64 {
        case executable = 1
        case other = 2

        init?(_ name: String) {
            switch name {
            case "executable": self = .executable
            case "other": self = .other
            default: return nil
            }
        }
    }

    static let section = "keychain_entitlements"
    private static let magic = Array("KCENTITL".utf8)

    let words: [UInt64]

    init(_ entitlements: Entitlements, kind: Kind) {
        let payload = Array(entitlements.propertyList)
        let header = [Self.word(Self.magic[...]), UInt64(payload.count) | kind.rawValue << 32]
        words = header + stride(from: 0, to: payload.count, by: 8).map { Self.word(payload[$0...].prefix(8)) }
    }

    private static func word(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
