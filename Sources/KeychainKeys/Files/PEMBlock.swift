internal import FoundationEssentials
package import KeychainModel
internal import KeychainSystem

/// A block of a text: `-----BEGIN LABEL-----`, base64 in lines, `-----END LABEL-----` (RFC 7468).
package struct PEMBlock {
    package let label: String
    package let bytes: [UInt8]

    /// - Parameter lineLength: The characters of a line.
    package static func text(_ label: String, _ bytes: some Sequence<UInt8>, lineLength: Int = 64) -> String {
        var rest = Data(bytes).base64EncodedString()[...]
        var lines = ["-----BEGIN \(label)-----"]
        while !rest.isEmpty {
            lines.append(String(rest.prefix(lineLength)))
            rest = rest.dropFirst(lineLength)
        }
        return (lines + ["-----END \(label)-----"]).map { $0 + "\n" }.joined()
    }

    /// All blocks of a text with any of these labels.
    ///
    /// - Returns: nil for a text without any block.
    /// - Throws: `.decode` for damaged ones, `.parameter` for a key that is under a passphrase by PEM itself.
    package static func all(
        in text: [UInt8], _ isWanted: (String) -> Bool
    ) throws(KeychainError) -> [PEMBlock]? {
        do {
            let blocks = try UnreadBlock.all(in: text)
            if blocks.isEmpty { return nil }
            return try blocks.filter { isWanted($0.label) }.map { PEMBlock(label: $0.label, bytes: try $0.bytes) }
        } catch let flaw as KeyFileFlaw {
            throw flaw.error
        } catch {
            throw KeyFileFlaw.damaged.error
        }
    }

    /// The blocks with one of these labels that can be read.
    package static func readable(_ labels: Set<String>, in text: [UInt8]) -> [PEMBlock] {
        // A text whose blocks lie in each other has none.
        let blocks = (try? UnreadBlock.all(in: text)) ?? []
        return blocks.filter { labels.contains($0.label) }.compactMap { block in
            (try? block.bytes).map { PEMBlock(label: block.label, bytes: $0) }
        }
    }

    /// The block of a text that holds a key, among blocks that hold something else.
    ///
    /// - Returns: nil for a text without any block.
    static func key(in text: [UInt8]) throws -> PEMBlock? {
        let blocks = try UnreadBlock.all(in: text)
        let keys = blocks.filter { $0.label.hasSuffix("PRIVATE KEY") || $0.label.hasSuffix("PUBLIC KEY") }
        guard let key = keys.first else {
            guard let other = blocks.first else { return nil }
            throw KeyFileFlaw.noKey("the file has no key, but \(other.label)")
        }
        guard keys.count == 1 else {
            throw KeyFileFlaw.noKey("the file has \(keys.count) keys: give each a file of its own")
        }
        return PEMBlock(label: key.label, bytes: try key.bytes)
    }
}

/// A block whose lines are not decoded yet.
private struct UnreadBlock {
    let label: String
    var lines: [String] = []

    static func all(in text: [UInt8]) throws -> [UnreadBlock] {
        var blocks: [UnreadBlock] = []
        var open: UnreadBlock?
        for line in text.split(whereSeparator: { $0 == 10 || $0 == 13 }) {
            let line = String(decoding: line, as: UTF8.self).trimming(while: \.isWhitespace)
            if let label = line.pemLabel("BEGIN") {
                guard open == nil else { throw KeyFileFlaw.damaged }
                open = UnreadBlock(label: label)
            } else if let label = line.pemLabel("END"), let block = open {
                guard label == block.label else { throw KeyFileFlaw.damaged }
                blocks.append(block)
                open = nil
            } else {
                // In its place: a copy of the block for each line would take minutes for a large file.
                open?.lines.append(line)
            }
        }
        guard open == nil else { throw KeyFileFlaw.damaged }
        return blocks
    }

    var bytes: [UInt8] {
        get throws {
            if lines.contains(where: { $0.hasPrefix("Proc-Type:") && $0.hasSuffix("ENCRYPTED") }) {
                throw KeyFileFlaw.otherEncryption(
                    "of PEM itself, which is weak: 'openssl pkcs8 -topk8 -in FILE -out NEWFILE' writes it anew")
            }
            guard let bytes = Data(base64Encoded: lines.joined()) else { throw KeyFileFlaw.damaged }
            return Array(bytes)
        }
    }
}

extension String {
    /// The label of a line that begins or ends a block.
    fileprivate func pemLabel(_ word: String) -> String? {
        let (start, end) = ("-----\(word) ", "-----")
        guard hasPrefix(start), hasSuffix(end), utf8.count > start.utf8.count + end.utf8.count else { return nil }
        return String(dropFirst(start.count).dropLast(end.count))
    }
}
