package import KeychainModel

/// The forms in which a secret is masked in a command's output: the secret itself, and its common encodings.
package enum MaskedForms {
    /// A shorter secret is found in innocent output too.
    package static let shortest = 8
    /// A longer secret is seldom printed whole, and costs memory.
    package static let longest = 16 << 10

    /// - Returns: none for a secret that is too short or too long.
    package static func of(_ secret: SecretBytes) -> [SecretBytes] {
        secret.withUnsafeBytes { bytes in
            // Programs print a line without its end.
            let end = bytes.reversed().prefix { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }.count
            let secret = UnsafeRawBufferPointer(rebasing: bytes.dropLast(end))
            guard (shortest...longest).contains(secret.count) else { return [] }
            let forms =
                [SecretBytes(copying: secret)] + JSONForm.allOf(secret) + PercentForm.allOf(secret)
                + [false, true].map { hexadecimal(secret, isUpper: $0) } + Base64Form.allOf(secret)
            // Several forms of most secrets are the same.
            return forms.reduce(into: []) { distinct, form in
                if !distinct.contains(where: { $0.hasSameBytes(as: form) }) { distinct.append(form) }
            }
        }
    }

    private static func hexadecimal(_ secret: UnsafeRawBufferPointer, isUpper: Bool) -> SecretBytes {
        SecretBytes(upTo: 2 * secret.count) { form in
            for byte in secret { form.appendHexadecimal(byte, isUpper: isUpper) }
        }
    }
}

/// A secret in an address or a form. Programs differ in the characters that they leave as they are.
private enum PercentForm {
    /// The characters that stay, besides letters, digits and `_`, and whether a blank becomes a plus sign.
    private static let ways: [(plain: String, hasPlus: Bool)] = [
        ("-.~", false),  // RFC 3986, 2.3: curl, jq, Swift
        ("-.!~*'()", false),  // encodeURIComponent of JavaScript
        ("-.~/", false), ("-.~", true),  // quote and quote_plus of Python
        ("-.*", true),  // the form of HTML: URLSearchParams, URLEncoder of Java
    ]

    static func allOf(_ secret: UnsafeRawBufferPointer) -> [SecretBytes] {
        ways.flatMap { way in [false, true].map { encoded(secret, way.plain, way.hasPlus, isUpper: $0) } }
    }

    private static func encoded(
        _ secret: UnsafeRawBufferPointer, _ plain: String, _ hasPlus: Bool, isUpper: Bool
    ) -> SecretBytes {
        SecretBytes(upTo: 3 * secret.count) { form in
            for byte in secret {
                if VariableName.isPart(Unicode.Scalar(byte)) || plain.utf8.contains(byte) {
                    form.append(byte)
                } else if hasPlus && byte == UInt8(ascii: " ") {
                    form.append(UInt8(ascii: "+"))
                } else {
                    form.append(UInt8(ascii: "%"))
                    form.appendHexadecimal(byte, isUpper: isUpper)
                }
            }
        }
    }
}

/// A secret as it stands between the quotes of a JSON string.
private enum JSONForm {
    /// The forms with and without escaped slashes, and with and without escapes of characters outside ASCII. Bytes that
    /// are not UTF-8 stay as they are.
    static func allOf(_ secret: UnsafeRawBufferPointer) -> [SecretBytes] {
        let isText = String(validating: secret, as: UTF8.self) != nil
        return [false, true].flatMap { hasSlashes in
            [escaped(secret, hasSlashes)] + (isText ? [inASCII(secret, hasSlashes)] : [])
        }
    }

    private static func escaped(_ secret: UnsafeRawBufferPointer, _ hasSlashes: Bool) -> SecretBytes {
        SecretBytes(upTo: 6 * secret.count) { form in
            for byte in secret { append(byte, hasSlashes, to: &form) }
        }
    }

    private static func inASCII(_ secret: UnsafeRawBufferPointer, _ hasSlashes: Bool) -> SecretBytes {
        SecretBytes(upTo: 6 * secret.count) { form in
            var decoder = UTF8()
            var bytes = secret.makeIterator()
            while case .scalarValue(let scalar) = decoder.decode(&bytes) {
                if scalar.isASCII {
                    append(UInt8(scalar.value), hasSlashes, to: &form)
                } else {
                    for unit in UTF16.encode(scalar)! { append(unit, to: &form) }  // every scalar has a form
                }
            }
        }
    }

    private static func append(_ byte: UInt8, _ hasSlashes: Bool, to form: inout SecretForm) {
        let short: Unicode.Scalar? =
            switch byte {
            case UInt8(ascii: "\""): "\""
            case UInt8(ascii: "\\"): "\\"
            case UInt8(ascii: "/") where hasSlashes: "/"
            case 0x08: "b"
            case 0x09: "t"
            case 0x0a: "n"
            case 0x0c: "f"
            case 0x0d: "r"
            default: nil
            }
        if let short {
            form.append(UInt8(ascii: "\\"))
            form.append(UInt8(ascii: short))
        } else if byte < 0x20 {
            append(UInt16(byte), to: &form)
        } else {
            form.append(byte)
        }
    }

    private static func append(_ unit: UInt16, to form: inout SecretForm) {
        form.append(UInt8(ascii: "\\"))
        form.append(UInt8(ascii: "u"))
        for byte in [UInt8(unit >> 8), UInt8(unit & 0xff)] { form.appendHexadecimal(byte, isUpper: false) }
    }
}

/// A secret in base64 (RFC 4648). Within a longer text a secret begins at any of the three places of a group.
private enum Base64Form {
    private static let common = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    private static let standard = common + Array("+/".utf8)
    private static let forAddresses = common + Array("-_".utf8)

    static func allOf(_ secret: UnsafeRawBufferPointer) -> [SecretBytes] {
        [standard, forAddresses].flatMap { alphabet in
            [whole(secret, alphabet)] + (0..<3).map { part(secret, behind: $0, alphabet) }
        }
    }

    /// The secret alone, with its padding.
    private static func whole(_ secret: UnsafeRawBufferPointer, _ alphabet: [UInt8]) -> SecretBytes {
        SecretBytes(upTo: secret.count / 3 * 4 + 4) { form in
            appendDigits(of: secret, from: 0, to: (secret.count * 8 + 5) / 6 * 6, alphabet, &form)
            for _ in 0..<(3 - secret.count % 3) % 3 { form.append(UInt8(ascii: "=")) }
        }
    }

    /// The digits that depend on the secret alone, if `before` other bytes of its first group come before it.
    private static func part(
        _ secret: UnsafeRawBufferPointer, behind before: Int, _ alphabet: [UInt8]
    ) -> SecretBytes {
        // The first digit that has only bits of the secret begins at this bit of it.
        let first = (6 - before * 8 % 6) % 6
        return SecretBytes(upTo: secret.count / 3 * 4 + 4) { form in
            appendDigits(of: secret, from: first, to: secret.count * 8, alphabet, &form)
        }
    }

    /// Appends the whole digits between two bits. The bits beyond the secret are zero.
    private static func appendDigits(
        of secret: UnsafeRawBufferPointer, from first: Int, to end: Int, _ alphabet: [UInt8], _ form: inout SecretForm
    ) {
        for bit in stride(from: first, through: end - 6, by: 6) {
            let high = Int(secret[bit / 8]) << 8
            let low = bit / 8 + 1 < secret.count ? Int(secret[bit / 8 + 1]) : 0
            form.append(alphabet[(high | low) >> (10 - bit % 8) & 0x3f])
        }
    }
}

/// Bytes of a secret that are written one after the other.
private struct SecretForm {
    let bytes: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    mutating func append(_ byte: UInt8) {
        bytes[count] = byte
        count += 1
    }

    mutating func appendHexadecimal(_ byte: UInt8, isUpper: Bool) {
        let letter = isUpper ? UInt8(ascii: "A") : UInt8(ascii: "a")
        for digit in [byte >> 4, byte & 0xf] { append(digit < 10 ? UInt8(ascii: "0") + digit : letter + digit - 10) }
    }

    init(bytes: UnsafeMutableRawBufferPointer) { self.bytes = bytes }
}

extension SecretBytes {
    /// - Parameter most: More bytes are not written.
    fileprivate convenience init(upTo most: Int, _ write: (inout SecretForm) -> Void) {
        var count = 0
        let whole = SecretBytes(count: most) { bytes in
            var form = SecretForm(bytes: bytes)
            write(&form)
            count = form.count
        }
        self.init(count: count) { target in
            whole.withUnsafeBytes { target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
    }
}
