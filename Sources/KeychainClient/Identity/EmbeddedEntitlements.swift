internal import FoundationEssentials
internal import KeychainModel

/// The records that the linker collected from all targets that use the plugin.
///
/// Little-endian words of 64 bits: "KCENTITL", the length of the property list with the kind of its target in
/// the upper half, then the property list, padded with zeros to a whole word. Zero words may lie between records.
enum EmbeddedEntitlements {
    enum Kind: UInt32, Comparable {
        /// A program's own entitlements come before those of a library it contains.
        case executable = 1
        case library = 2

        static func < (a: Kind, b: Kind) -> Bool { a.rawValue < b.rawValue }
    }

    struct Record {
        var kind: Kind
        var propertyList: Data
    }

    private static let magic = Data("KCENTITL".utf8)

    /// - Throws: `.notAvailable` if the section holds anything else.
    static func records(in section: Data) throws(KeychainError) -> [Record] {
        var reader = ByteReader(section)
        var records: [Record] = []
        while let word = reader.take(8) {
            if word.allSatisfy({ $0 == 0 }) { continue }
            guard word == magic, let length = reader.integer(UInt64.self)?.byteSwapped,
                let kind = Kind(rawValue: UInt32(truncatingIfNeeded: length >> 32))
            else { throw malformed }
            let count = Int(UInt32(truncatingIfNeeded: length))
            guard let padded = reader.take((count + 7) / 8 * 8) else { throw malformed }
            records.append(Record(kind: kind, propertyList: padded.prefix(count)))
        }
        return records
    }

    private static var malformed: KeychainError {
        KeychainError(.notAvailable, message: "the entitlements embedded in this program are damaged: build it again")
    }
}
