package import KeychainModel

extension OneTimeKey {
    /// The most bytes of an `otpauth://` URI that are read.
    package static let longestURI = 8192

    /// Reads the text of a site or its QR code: `otpauth://totp/LABEL?secret=BASE32&algorithm=…&digits=…&period=…`, or
    /// the base32 of the key alone.
    ///
    /// - Throws: `.parameter`, which names the fault. The message never has a part of the key.
    package init(text: UnsafeRawBufferPointer) throws(KeychainError) {
        guard text.count <= Self.longestURI else { throw .oneTimeKey("it is longer than \(Self.longestURI) bytes") }
        let text = text.trimmingSpace
        guard text.hasScheme("otpauth:") else {
            self.init(secret: try Base32.decode(text))
            return
        }
        guard text.hasScheme("otpauth://totp/") else {
            throw .oneTimeKey("only codes that follow the time ('otpauth://totp/…') can be made")
        }
        let whole = text.prefix { $0 != UInt8(ascii: "#") }
        let query = whole.drop { $0 != UInt8(ascii: "?") }.dropFirst()
        self = try OneTimeKey(fields: query.split(separator: UInt8(ascii: "&")))
    }

    private init(fields: [UnsafeRawBufferPointer.SubSequence]) throws(KeychainError) {
        var values: [String: UnsafeRawBufferPointer.SubSequence] = [:]
        for field in fields {
            let name = String(decoding: field.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self).lowercased()
            guard Self.fieldNames.contains(name) else { continue }
            guard values.updateValue(field.dropFirst(name.utf8.count + 1), forKey: name) == nil else {
                throw .oneTimeKey("it has '\(name)' twice")
            }
        }
        guard let secret = values["secret"] else { throw .oneTimeKey("it has no 'secret='") }
        self.init(secret: try Base32.decode(secret))
        if let algorithm = values["algorithm"] {
            let name = String(decoding: algorithm, as: UTF8.self).lowercased().replacing("-", with: "")
            guard let known = Digest(rawValue: name.hasPrefix("hmac") ? String(name.dropFirst(4)) : name) else {
                throw .oneTimeKey("its algorithm is none of SHA1, SHA256 and SHA512")
            }
            digest = known
        }
        if let digits = values["digits"] {
            guard let count = Self.number(digits), let few = Int(exactly: count), Self.digitCounts.contains(few) else {
                throw .oneTimeKey("its codes have 6, 7 or 8 digits, or none can be made")
            }
            digitCount = few
        }
        if let text = values["period"] {
            guard let length = Self.number(text), Self.periods.contains(length) else {
                throw .oneTimeKey("its period is no number of seconds from 1 to 86400")
            }
            period = length
        }
    }

    private static let fieldNames: Set = ["secret", "algorithm", "digits", "period"]

    private static func number(_ text: some Collection<UInt8>) -> UInt64? {
        guard !text.isEmpty, text.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else { return nil }
        return UInt64(String(decoding: text, as: UTF8.self))
    }

    /// Where the key is in a secret of several lines: the first one that is an `otpauth://` URI.
    ///
    /// - Returns: nil if no line is one. Other lines that may be base32 are not guessed at: most passwords of words
    ///   are.
    package static func range(in secret: UnsafeRawBufferPointer) -> Range<Int>? {
        secret.split(separator: UInt8(ascii: "\n"))
            .first { UnsafeRawBufferPointer(rebasing: $0).hasScheme("otpauth:") }?.indices
    }

    /// The key that a line of a secret has.
    ///
    /// - Throws: `.parameter` if there is no such line.
    package init(lineOf secret: SecretBytes) throws(KeychainError) {
        self = try secret.withUnsafeBytes { (bytes) throws(KeychainError) in
            guard let range = Self.range(in: bytes) else {
                throw KeychainError(
                    .parameter,
                    message: "the item has no key for one-time codes: none of the lines of its secret begins with "
                        + "'otpauth://'")
            }
            return try OneTimeKey(text: UnsafeRawBufferPointer(rebasing: bytes[range]))
        }
    }
}

/// RFC 4648, section 6, as people type it: in capitals or not, with spaces and hyphens, with padding or without.
private enum Base32 {
    static func decode(_ text: some Collection<UInt8>) throws(KeychainError) -> SecretBytes {
        guard let secret = decodeValid(text) else { throw .oneTimeKey("its key is not base32 (A to Z, 2 to 7)") }
        guard secret.count > 0 else { throw .oneTimeKey("its key is empty") }
        guard secret.count <= OneTimeKey.largestKey else { throw .oneTimeKey("its key is too long") }
        return secret
    }

    private static func decodeValid(_ text: some Collection<UInt8>) -> SecretBytes? {
        guard let characters = count(text) else { return nil }
        // No number of whole bytes has so many characters: a character is five bits, a byte eight.
        guard ![1, 3, 6].contains(characters % 8) else { return nil }
        return SecretBytes(count: characters * 5 / 8) { bytes in
            var bits = UInt32(0)
            var bitCount = 0
            var place = 0
            walk(text) { value in
                bits = bits << 5 | UInt32(value)
                bitCount += 5
                guard bitCount >= 8 else { return }
                bitCount -= 8
                bytes[place] = UInt8(truncatingIfNeeded: bits >> UInt32(bitCount))
                place += 1
            }
        }
    }

    /// nil: other characters are among the digits.
    private static func count(_ text: some Collection<UInt8>) -> Int? {
        var count = 0
        return walk(text) { _ in count += 1 } ? count : nil
    }

    /// Gives the values of the characters to `body`.
    ///
    /// - Returns: whether all of the text was valid.
    @discardableResult
    private static func walk(_ text: some Collection<UInt8>, _ body: (UInt8) -> Void) -> Bool {
        var rest = text[...]
        while let character = rest.popFirst() {
            switch character {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): body(character - UInt8(ascii: "A"))
            case UInt8(ascii: "a")...UInt8(ascii: "z"): body(character - UInt8(ascii: "a"))
            case UInt8(ascii: "2")...UInt8(ascii: "7"): body(character - UInt8(ascii: "2") + 26)
            case UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "+"): break
            // A space and the padding, as they are written in a URI.
            case UInt8(ascii: "%") where rest.starts(with: [0x32, 0x30]): rest = rest.dropFirst(2)
            case UInt8(ascii: "%") where rest.starts(with: [0x33, 0x44]) || rest.starts(with: [0x33, 0x64]):
                return isPadding(rest.dropFirst(2))
            case UInt8(ascii: "="): return isPadding(rest)
            default: return false
            }
        }
        return true
    }

    private static func isPadding(_ rest: some Collection<UInt8>) -> Bool {
        rest.allSatisfy { "=%3Dd".utf8.contains($0) } && rest.count < 18
    }
}

extension UnsafeRawBufferPointer {
    fileprivate var trimmingSpace: UnsafeRawBufferPointer {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x9...0xd).contains(byte) }
        let start = drop(while: isSpace)
        let end = start.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? start.startIndex
        return UnsafeRawBufferPointer(rebasing: start[..<end])
    }

    /// Schemes and hosts are the same in capitals.
    fileprivate func hasScheme(_ scheme: String) -> Bool {
        count >= scheme.utf8.count
            && zip(self, scheme.utf8).allSatisfy { byte, wanted in
                byte == wanted || ((0x41...0x5a).contains(byte) && byte | 0x20 == wanted)
            }
    }
}

extension KeychainError {
    fileprivate static func oneTimeKey(_ flaw: String) -> KeychainError {
        KeychainError(.parameter, message: "that is no key for one-time codes: \(flaw)")
    }
}
