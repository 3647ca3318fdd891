import Foundation
import KeychainModel
import KeychainTestSupport
import Testing

@testable import KeychainCrypto
@testable import KeychainKeys

/// Keys in files, with files of OpenSSL and ssh-keygen as witnesses.
@Suite struct KeyFileTests {
    @Test("Every file of a pair that others have made is read as that pair", arguments: KeyFileFixtures.all.keys)
    func reading(fixture: KeyFileFixtures.Key) throws {
        let pair = try fixture.pair
        for (name, bytes) in fixture.private {
            #expect(try KeyFile(bytes).sole.externalRepresentation == pair.externalRepresentation, "\(name)")
        }
        for (name, bytes) in fixture.public {
            let key = try KeyFile(bytes).sole
            #expect(!key.isPrivate, "\(name)")
            #expect(key.publicBytes == pair.publicBytes, "\(name)")
        }
    }

    @Test("A key is what the numbers say that OpenSSL prints of it", arguments: KeyFileFixtures.all.keys)
    func numbers(fixture: KeyFileFixtures.Key) throws {
        let written = try KeyFileFormat.jwk.bytes(of: try fixture.pair)
        #expect(try JSONDecoder().decode([String: String].self, from: written) == fixture.jwk)
        let half = try KeyFileFormat.jwk.bytes(of: try fixture.pair.publicHalf)
        let members = fixture.jwk.filter { ["kty", "crv", "x", "y", "n", "e"].contains($0.key) }
        #expect(try JSONDecoder().decode([String: String].self, from: half) == members)
    }

    @Test("A file that is written has the bytes of the file that others write", arguments: KeyFileFixtures.all.keys)
    func writing(fixture: KeyFileFixtures.Key) throws {
        let (pair, half) = (try fixture.pair, try fixture.pair.publicHalf)
        #expect(try KeyFileFormat.pem.bytes(of: pair) == fixture.private["pkcs8.pem"])
        #expect(try KeyFileFormat.der.bytes(of: pair) == fixture.private["pkcs8.der"])
        #expect(try KeyFileFormat.pem.bytes(of: half) == fixture.public["spki.pem"])
        #expect(try KeyFileFormat.der.bytes(of: half) == fixture.public["spki.der"])
        for key in [pair, half] { #expect(try KeyFileFormat.spki.bytes(of: key) == fixture.public["spki.der"]) }
        #expect(try KeyFileFormat.raw.bytes(of: pair) == pair.externalRepresentation)
        guard let line = fixture.public["openssh.pub"], let file = fixture.private["openssh"] else { return }
        #expect(try KeyFileFormat.ssh.bytes(of: half) == line.trimmingSpaces + Data("\n".utf8))
        #expect(
            try withoutCheck(KeyFileFormat.ssh.bytes(of: pair), pair) == withoutCheck(file, pair))
    }

    /// The number that is drawn for each file and stands in it twice, before the name of the key's kind.
    private func withoutCheck(_ file: Data, _ key: AsymmetricKey) throws -> [UInt8] {
        var bytes = try #require(try PEMBlock.key(in: Array(file))).bytes
        let name = Data((key.kind == .rsa ? "ssh-rsa" : "ecdsa-sha2-nistp\(key.bitCount)").utf8)
        let place = try #require(Data(bytes).range(of: name, options: .backwards)).lowerBound - 4
        bytes.replaceSubrange(place - 8..<place, with: [UInt8](repeating: 0, count: 8))
        return bytes
    }

    @Test("A block that holds another structure than its label says is refused", arguments: KeyFileFixtures.all.keys)
    func labels(fixture: KeyFileFixtures.Key) throws {
        let (pair, half) = (try fixture.pair, try fixture.pair.publicHalf)
        let structures: [(label: String, bytes: Data)] =
            [
                ("PRIVATE KEY", try KeyFileFormat.der.bytes(of: pair)),
                ("PUBLIC KEY", try KeyFileFormat.spki.bytes(of: pair)),
            ]
            + (pair.kind == .rsa
                ? [
                    ("RSA PRIVATE KEY", pair.externalRepresentation), ("RSA PUBLIC KEY", half.externalRepresentation),
                ] : [])
        let labels = [
            "PRIVATE KEY", "PUBLIC KEY", "RSA PRIVATE KEY", "RSA PUBLIC KEY", "EC PRIVATE KEY", "ENCRYPTED PRIVATE KEY",
        ]
        for (label, bytes) in structures {
            for other in labels {
                let text = Data(PEMBlock.text(other, bytes).utf8)
                if other == label {
                    #expect(try KeyFile(text).sole.label == pair.label)
                } else {
                    let error = #expect(throws: KeychainError.self) { _ = try KeyFile(text) }
                    #expect(error?.message.contains(other) == true)
                }
            }
        }
    }

    @Test("Whatever is written is read again", arguments: KeyFileFixtures.all.keys)
    func again(fixture: KeyFileFixtures.Key) throws {
        for key in [try fixture.pair, try fixture.pair.publicHalf] {
            for format in KeyFileFormat.allCases where format != .jwk {
                let read = try KeyFile(format.bytes(of: key)).sole
                #expect(read.publicBytes == key.publicBytes, "\(format)")
                #expect(read.isPrivate == (key.isPrivate && format != .spki), "\(format)")
            }
        }
    }

    @Test("A key under a passphrase opens with it, by each scheme", arguments: KeyFileFixtures.all.keys)
    func passphrase(fixture: KeyFileFixtures.Key) throws {
        for (scheme, bytes) in fixture.encrypted {
            guard case .encrypted(let key) = try KeyFile(bytes) else {
                Issue.record("\(scheme) is not under a passphrase")
                continue
            }
            let opened = try key.key(KeyFileFixtures.passphrase)
            #expect(opened.externalRepresentation == (try fixture.pair).externalRepresentation, "\(scheme)")
        }
    }

    @Test("A wrong passphrase and a damaged file are one and the same error")
    func wrongPassphrase() throws {
        let bytes = try #require(try PEMBlock.key(in: Array(Self.encrypted))).bytes
        for place in [bytes.count - 1, bytes.count - 17, bytes.count - 40, nil] {
            var changed = bytes
            if let place { changed[place] ^= 1 }
            let passphrase = place == nil ? SecretBytes(copying: Data("other".utf8)) : KeyFileFixtures.passphrase
            guard case .encrypted(let key) = try KeyFile(Data(changed)) else { throw CocoaError(.fileReadCorruptFile) }
            let error = #expect(throws: KeychainError.self) { try key.key(passphrase) }
            #expect(error?.code == .authenticationFailed)
            #expect(error?.message == "the passphrase is wrong, or the file of the key is damaged")
        }
    }

    @Test("Parameters of scrypt that do not go together are an error, and too large ones are refused before any work")
    func scrypt() throws {
        // N = 2¹⁷ needs r > 1 (RFC 7914, section 6).
        guard case .encrypted(let key) = try KeyFile(Self.scryptFile(rounds: [2, 0, 0], blockSize: 1)) else {
            throw CocoaError(.fileReadCorruptFile)
        }
        let error = #expect(throws: KeychainError.self) { try key.key(KeyFileFixtures.passphrase) }
        #expect(error?.code == .authenticationFailed)
        for (rounds, blockSize) in [([0x10, 0, 0], 8), ([0x40, 0, 0, 0], 1), ([3], 8), ([1], 8)] as [([UInt8], UInt8)] {
            #expect(throws: KeychainError.self) {
                try KeyFile(Self.scryptFile(rounds: rounds, blockSize: blockSize))
            }
        }
    }

    /// EncryptedPrivateKeyInfo under PBES2 with scrypt and AES-256.
    private static func scryptFile(rounds: [UInt8], blockSize: UInt8) -> Data {
        func node(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] { [tag, UInt8(content.count)] + content }
        let block = [UInt8](repeating: 7, count: 16)
        let parameters = node(
            0x30, node(4, block) + node(2, rounds) + node(2, [blockSize]) + node(2, [1]))
        let derivation = node(0x30, node(6, [0x2b, 6, 1, 4, 1, 0xda, 0x47, 4, 11]) + parameters)
        let cipher = node(0x30, node(6, [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 1, 0x2a]) + node(4, block))
        let scheme = node(6, [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 5, 0x0d]) + node(0x30, derivation + cipher)
        return Data(node(0x30, node(0x30, scheme) + node(4, block)))
    }

    private static var encrypted: Data { KeyFileFixtures.all.keys[2].encrypted["aes256-sha256"]! }

    @Test("Another kind of key, another encryption and too much work are refused by name")
    func refused() {
        for (words, bytes) in KeyFileFixtures.all.refused {
            let error = #expect(throws: KeychainError.self) { try KeyFile(bytes) }
            #expect(error?.code == .parameter, "\(words)")
            #expect(error?.message.contains(words) == true, "\(words): \(error?.message ?? "")")
        }
    }

    @Test("More than 1 MiB, and structures in structures without end, are refused")
    func limits() {
        #expect(throws: KeychainError.self) { try KeyFile(Data(count: KeyFile.mostBytes + 1)) }
        #expect(throws: KeychainError.self) { try KeyFile(Data(repeating: 0x30, count: KeyFile.mostBytes)) }
        var nested = Data([0x30, 0])
        while nested.count < 60_000 {
            let count = nested.count
            nested =
                Data([0x30, 0x82, UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count)]) + nested
        }
        #expect(throws: KeychainError.self) { try KeyFile(nested) }
    }

    @Test("What is no key is told from what is damaged only by what it is")
    func noKey() {
        for text in ["", "\n", "root:x:0:0", "ssh-rsa", "ssh-rsa AAAA", "-----BEGIN PRIVATE KEY-----\nAAAA"] {
            let error = #expect(throws: KeychainError.self) { try KeyFile(Data(text.utf8)) }
            #expect(error?.code == .decode, "\(text)")
        }
        let certificate = Data("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".utf8)
        let error = #expect(throws: KeychainError.self) { try KeyFile(certificate) }
        #expect(error?.message == "the file has no key, but CERTIFICATE")
    }

    @Test("A file that is cut short anywhere is refused, or is the same key", arguments: KeyFileFixtures.all.keys)
    func cut(fixture: KeyFileFixtures.Key) throws {
        let label = try fixture.pair.label
        for (name, bytes) in fixture.all {
            for count in 0..<bytes.count {
                guard case .key(let key)? = try? KeyFile(bytes.prefix(count)) else { continue }
                #expect(key.label == label, "\(name), \(count) bytes")
            }
        }
    }

    @Test("A file with a changed byte is refused, or is a key that works", arguments: KeyFileFixtures.all.keys)
    func changed(fixture: KeyFileFixtures.Key) throws {
        for (name, bytes) in fixture.all {
            for place in bytes.indices {
                var changed = bytes
                changed[place] ^= UInt8(1 << (place % 8))
                guard case .key(let key)? = try? KeyFile(changed) else { continue }
                #expect(
                    try AsymmetricKey(key.kind, isPrivate: key.isPrivate, key.externalRepresentation).label
                        == key.label, "\(name)")
            }
        }
    }
}

extension Data {
    fileprivate var trimmingSpaces: Data {
        Data(String(decoding: self, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines).utf8)
    }

    @Test("A file of short lines that is as large as one may be is read in no time", .timeLimit(.minutes(1)))
    func manyLines() {
        let lines = String(repeating: "A\n", count: (1 << 19) - 64)
        let file = Data("-----BEGIN PRIVATE KEY-----\n\(lines)-----END PRIVATE KEY-----\n".utf8)
        #expect(throws: (any Error).self) { try KeyFile(file) }
    }
}
