internal import Foundation
internal import KeychainCertificates

/// The flaws of one chain that are excused: a property list, with a dictionary for each certificate.
struct TrustExceptions: Sendable {
    private let entries: [Entry]

    private struct Entry {
        let digest: Data
        let reasons: Set<String>
    }

    private static let digestKey = "SHA256Digest"

    /// All flaws of an outcome that can be excused.
    static func data(for outcome: TrustOutcome) throws -> Data {
        let entries = outcome.chain.enumerated().map { position, certificate in
            var entry: [String: Any] = [digestKey: digest(of: certificate)]
            for flaw in outcome.flaws where flaw.position == position && !flaw.reason.isFatal {
                entry[flaw.reason.rawValue] = false
            }
            return entry
        }
        return try PropertyListSerialization.data(fromPropertyList: entries, format: .binary, options: 0)
    }

    /// - Returns: nil for data that are no such list, and for the list of another leaf.
    init?(_ data: Data, for leaf: SecCertificate) {
        guard let list = try? PropertyListSerialization.propertyList(from: data, format: nil),
            let dictionaries = list as? [[String: Any]]
        else { return nil }
        var entries: [Entry] = []
        for dictionary in dictionaries {
            guard let digest = dictionary[Self.digestKey] as? Data else { return nil }
            entries.append(Entry(digest: digest, reasons: Set(dictionary.keys)))
        }
        guard entries.first?.digest == Self.digest(of: leaf) else { return nil }
        self.entries = entries
    }

    func excuse(_ flaw: TrustFlaw, of certificate: SecCertificate) -> Bool {
        guard !flaw.reason.isFatal, entries.indices.contains(flaw.position) else { return false }
        let entry = entries[flaw.position]
        return entry.reasons.contains(flaw.reason.rawValue) && entry.digest == Self.digest(of: certificate)
    }

    private static func digest(of certificate: SecCertificate) -> Data {
        certificate.contents.fingerprint
    }
}
