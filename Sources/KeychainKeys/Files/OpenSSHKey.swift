internal import FoundationEssentials
internal import KeychainCrypto
internal import KeychainModel

/// The files of ssh-keygen(1): `openssh-key-v1` for private keys, and a line of text for public ones (RFC 4253, section
/// 6.6; RFC 5656, section 3.1).
enum OpenSSHKey {
    static let label = "OPENSSH PRIVATE KEY"
    static let magic = Array("openssh-key-v1\0".utf8)

    // MARK: Reading

    static func privateKey(in bytes: [UInt8]) throws -> AsymmetricKey {
        guard bytes.starts(with: magic) else { throw KeyFileFlaw.damaged }
        var reader = SSHReader(bytes[magic.count...])
        let (cipher, derivation) = (try reader.text(), try reader.text())
        _ = try reader.string()  // the derivation's parameters
        guard cipher == "none", derivation == "none" else {
            throw KeyFileFlaw.otherEncryption("of OpenSSH: take the passphrase off a copy with 'ssh-keygen -p -f FILE'")
        }
        guard try reader.number() == 1 else { throw KeyFileFlaw.noKey("the file has several keys, or none") }
        let outer = Array(try reader.string())
        var inner = SSHReader(try reader.string())
        guard reader.rest.isEmpty, try inner.number() == inner.number() else { throw KeyFileFlaw.damaged }
        let key = try privateKey(&inner)
        _ = try inner.string()  // the comment
        guard inner.rest.elementsEqual((1..<8).prefix(inner.rest.count)), inner.rest.count < 8,
            try publicBlob(of: key) == outer
        else { throw KeyFileFlaw.damaged }
        return key
    }

    private static func privateKey(_ reader: inout SSHReader) throws -> AsymmetricKey {
        switch try kind(&reader) {
        case .rsa:
            let (modulus, publicExponent) = (try reader.integer(), try reader.integer())
            let (privateExponent, coefficient) = (try reader.integer(), try reader.integer())
            let numbers = try RSANumbers(
                modulus: modulus, publicExponent: publicExponent, privateExponent: privateExponent,
                prime1: try reader.integer(), prime2: try reader.integer(), coefficient: coefficient)
            return .rsa(try RSAKey(privateBytes: numbers.der))
        case .ec(let curve):
            let point = Data(try reader.string())
            let number = try reader.integer()
            guard number.count <= curve.fieldByteCount else { throw KeyFileFlaw.damaged }
            let bytes = point + Data(count: curve.fieldByteCount - number.count) + number
            return .ec(try ECKey(curve, privateBytes: SecretBytes(copying: bytes)))
        }
    }

    /// - Parameter line: The kind, the key in base64, and perhaps a comment.
    static func publicKey(inLine line: [UInt8]) throws -> AsymmetricKey {
        guard let text = String(validating: line, as: UTF8.self) else { throw KeyFileFlaw.damaged }
        let lines = text.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("#") }
        guard lines.count == 1 else { throw KeyFileFlaw.damaged }
        let words = lines[0].split(separator: " ", maxSplits: 2)
        guard words.count >= 2, let blob = Data(base64Encoded: String(words[1])) else { throw KeyFileFlaw.damaged }
        var reader = SSHReader(Array(blob)[...])
        let key = try publicKey(&reader)
        guard reader.rest.isEmpty, words[0] == name(of: key) else { throw KeyFileFlaw.damaged }
        return key
    }

    private static func publicKey(_ reader: inout SSHReader) throws -> AsymmetricKey {
        switch try kind(&reader) {
        case .rsa:
            let (exponent, modulus) = (try reader.integer(), try reader.integer())
            return .rsa(try RSAKey(publicBytes: DERIntegers.der([modulus, exponent])))
        case .ec(let curve): return .ec(try ECKey(curve, point: Data(try reader.string())))
        }
    }

    /// Reads the kind's name and, of a key on a curve, the curve's.
    private static func kind(_ reader: inout SSHReader) throws -> KeyAlgorithmIdentifier {
        let name = try reader.text()
        if name == "ssh-rsa" { return .rsa }
        guard let curve = Curve.allCases.first(where: { name == "ecdsa-sha2-" + $0.nameInSSH }) else {
            // Other characters, or another length, are damage.
            guard name.wholeMatch(of: /[a-z0-9@.\-]{3,64}/) != nil else { throw KeyFileFlaw.damaged }
            throw KeyFileFlaw.otherKind(name == "ssh-ed25519" ? "Ed25519" : name == "ssh-dss" ? "DSA" : name)
        }
        guard try reader.text() == curve.nameInSSH else { throw KeyFileFlaw.damaged }
        return .ec(curve)
    }

    // MARK: Writing

    /// One line, without its end.
    static func publicLine(of key: AsymmetricKey) throws -> String {
        "\(name(of: key)) \(Data(try publicBlob(of: key)).base64EncodedString())"
    }

    /// The key as PEM, without a passphrase and without a comment.
    static func privateText(of key: AsymmetricKey) throws -> String {
        var inner = SSHWriter()
        // A number that stands there twice, by which a reader knows that it decrypted well.
        let check = UInt32.random(in: 0...UInt32.max)
        inner.append(check)
        inner.append(check)
        try append(key, to: &inner)
        inner.append("")
        inner.append(raw: (1...).prefix((8 - inner.bytes.count % 8) % 8))
        var file = SSHWriter()
        file.append(raw: magic)
        for text in ["none", "none", ""] { file.append(text) }
        file.append(1)
        file.append(try publicBlob(of: key))
        file.append(inner.bytes)
        return PEMBlock.text(label, file.bytes, lineLength: 70)
    }

    private static func append(_ key: AsymmetricKey, to writer: inout SSHWriter) throws {
        writer.append(name(of: key))
        switch key {
        case .rsa(let key):
            let numbers = try RSANumbers(der: key.privateBytes ?? Data())
            for number in [
                numbers.modulus, numbers.publicExponent, numbers.privateExponent, numbers.coefficient, numbers.prime1,
                numbers.prime2,
            ] { writer.append(integer: number) }
        case .ec(let key):
            writer.append(key.curve.nameInSSH)
            writer.append(key.point)
            writer.append(integer: key.privateNumber ?? [])
        }
    }

    private static func publicBlob(of key: AsymmetricKey) throws -> [UInt8] {
        var writer = SSHWriter()
        writer.append(name(of: key))
        switch key {
        case .rsa(let key):
            let numbers = try DERIntegers.numbers(in: key.publicBytes)
            for number in numbers.reversed() { writer.append(integer: number) }
        case .ec(let key):
            writer.append(key.curve.nameInSSH)
            writer.append(key.point)
        }
        return writer.bytes
    }

    private static func name(of key: AsymmetricKey) -> String {
        switch key {
        case .rsa: "ssh-rsa"
        case .ec(let key): "ecdsa-sha2-" + key.curve.nameInSSH
        }
    }
}

extension Curve {
    fileprivate var nameInSSH: String { "nistp\(bitCount)" }
}
