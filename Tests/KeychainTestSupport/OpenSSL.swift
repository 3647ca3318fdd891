package import Foundation

/// The command `openssl`, which computes what keys compute without any code of ours.
///
/// A test that needs it fails where it is missing: `Scripts/test` installs it.
package enum OpenSSL {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Runs the command in a directory of its own, with these files in it.
    package static func run(
        _ words: [String], _ files: [String: Data] = [:]
    ) throws -> (status: Int32, output: Data) {
        try withTemporaryDirectory { directory in
            for (name, bytes) in files { try bytes.write(to: directory.appending(path: name)) }
            let errors = directory.appending(path: "errors")
            try Data().write(to: errors)
            let (process, output) = (Process(), Pipe())
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = ["openssl"] + words
            process.currentDirectoryURL = directory
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = output
            process.standardError = try FileHandle(forWritingTo: errors)
            try process.run()
            let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            // env's own word for a command that is not there.
            if process.terminationStatus == 127 { throw Failure(description: "there is no command 'openssl'") }
            return (process.terminationStatus, bytes)
        }
    }

    /// What the command writes if it succeeds.
    package static func output(_ words: [String], _ files: [String: Data] = [:]) throws -> Data {
        let (status, output) = try run(words, files)
        guard status == 0 else { throw Failure(description: "openssl \(words.joined(separator: " ")): \(status)") }
        return output
    }

    // MARK: Its commands

    /// - Parameter name: such as `sha256`.
    package static func digest(_ name: String, of bytes: Data) throws -> Data {
        try output(["dgst", "-\(name)", "-binary", "in"], ["in": bytes])
    }

    /// Signs a digest.
    ///
    /// - Parameter key: PKCS#1's or SEC 1's DER (``sec1(_:)``).
    package static func sign(_ digest: Data, with key: Data, _ options: [String]) throws -> Data {
        try output(
            ["pkeyutl", "-sign", "-keyform", "DER", "-inkey", "key", "-in", "in"] + options.options,
            ["key": key, "in": digest])
    }

    /// - Parameter key: a `SubjectPublicKeyInfo`.
    package static func isSignature(
        _ signature: Data, of digest: Data, by key: Data, _ options: [String]
    ) throws -> Bool {
        let words = [
            "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", "key", "-in", "in", "-sigfile", "sig",
        ]
        return try run(words + options.options, ["key": key, "in": digest, "sig": signature]).status == 0
    }

    package static func encrypt(_ bytes: Data, to key: Data, _ options: [String]) throws -> Data {
        try output(
            ["pkeyutl", "-encrypt", "-pubin", "-keyform", "DER", "-inkey", "key", "-in", "in"] + options.options,
            ["key": key, "in": bytes])
    }

    package static func decrypt(_ bytes: Data, with key: Data, _ options: [String]) throws -> Data {
        try output(
            ["pkeyutl", "-decrypt", "-keyform", "DER", "-inkey", "key", "-in", "in"] + options.options,
            ["key": key, "in": bytes])
    }

    /// The X coordinate of a common point.
    package static func agree(_ key: Data, with peer: Data) throws -> Data {
        try output(
            ["pkeyutl", "-derive", "-keyform", "DER", "-inkey", "key", "-peerform", "DER", "-peerkey", "peer"],
            ["key": key, "peer": peer])
    }

    /// The key derivation of ANSI X9.63.
    package static func derive(_ digest: String, from secret: Data, info: Data, count: Int) throws -> Data {
        let options = [
            "digest:\(digest)", "hexsecret:\(secret.hexadecimal)",
            // An empty one is refused.
            info.isEmpty ? nil : "hexinfo:\(info.hexadecimal)",
        ]
        return try output(
            ["kdf", "-keylen", "\(count)", "-binary"] + options.compactMap { $0 }.flatMap { ["-kdfopt", $0] }
                + ["X963KDF"])
    }

    // MARK: Forms of keys that it reads

    /// SEC 1's `ECPrivateKey` of 04 ‖ X ‖ Y ‖ K.
    package static func sec1(_ x963: Data) -> Data {
        let size = (x963.count - 1) / 3
        let (point, number) = (x963.prefix(1 + 2 * size), x963.suffix(size))
        let curve = node(0xa0, curve(fieldByteCount: size))
        return node(
            0x30, node(0x02, Data([1])) + node(0x04, Data(number)) + curve + node(0xa1, bitString(Data(point))))
    }

    /// `SubjectPublicKeyInfo` of 04 ‖ X ‖ Y.
    package static func publicKeyInfo(point: Data) -> Data {
        let kind = node(0x06, Data([0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01]))
        return node(0x30, node(0x30, kind + curve(fieldByteCount: (point.count - 1) / 2)) + bitString(point))
    }

    /// `SubjectPublicKeyInfo` of PKCS#1's `RSAPublicKey`.
    package static func publicKeyInfo(rsa: Data) -> Data {
        let kind = node(0x06, Data([0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01]))
        return node(0x30, node(0x30, kind + node(0x05, Data())) + bitString(rsa))
    }

    private static func curve(fieldByteCount: Int) -> Data {
        switch fieldByteCount {
        case 32: node(0x06, Data([0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07]))
        case 48: node(0x06, Data([0x2b, 0x81, 0x04, 0x00, 0x22]))
        default: node(0x06, Data([0x2b, 0x81, 0x04, 0x00, 0x23]))
        }
    }

    private static func bitString(_ bytes: Data) -> Data { node(0x03, Data([0]) + bytes) }

    /// DER.
    package static func node(_ tag: UInt8, _ content: Data) -> Data {
        let bytes = withUnsafeBytes(of: content.count.bigEndian) { $0.drop { $0 == 0 } }
        let length = content.count < 0x80 ? [UInt8(content.count)] : [0x80 | UInt8(bytes.count)] + bytes
        return Data([tag] + length) + content
    }
}

extension [String] {
    fileprivate var options: [String] { flatMap { ["-pkeyopt", $0] } }
}

extension Data {
    fileprivate var hexadecimal: String { map { String(UInt16($0) + 0x100, radix: 16).dropFirst() }.joined() }
}
