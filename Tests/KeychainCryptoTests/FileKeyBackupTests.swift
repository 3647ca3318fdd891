import Foundation
import KeychainModel
import Testing

@testable import KeychainCrypto

/// Backup key files: the worked example of docs/backup-format.md, which another implementation computed, and what
/// becomes of one that was changed.
@Suite struct FileKeyBackupTests {
    private struct Example: Decodable {
        var passphrase: String
        var salt: HexBytes
        var log2N: UInt8
        var commitment: HexBytes
        var key: HexBytes
        var storeID: HexBytes
        var nonce: HexBytes
        var records: HexBytes
        var file: HexBytes
    }

    private struct FileKeys: Decodable {
        struct Key: Decodable {
            var `class`: UInt8
            var publicKey: HexBytes
            var wrappedKey: HexBytes
        }
        var storeID: HexBytes
        var fileID: HexBytes
        var fileKey: HexBytes
        var keys: [Key]
    }

    private let example: Example
    private let seal: FileKeyBackupSeal
    private let passphrase: SecretBytes

    init() throws {
        let example: Example = try Vectors.load("backup-example")
        self.example = example
        passphrase = SecretBytes(copying: Data(example.passphrase.utf8))
        seal = try FileKeyBackupSeal(
            passphrase: passphrase, cost: example.log2N, randomness: SomeBytes(data: example.salt.data))
    }

    private func sealed(_ records: Data) throws -> Data {
        try FileKeyBackup.sealed(
            SecretBytes(copying: records), storeID: UUID(example.storeID.data), header: seal.header, key: seal.key,
            randomness: SomeBytes(data: example.nonce.data))
    }

    /// The files' keys of the other example, whose class keys are those of generation 2 here.
    private func wrappedKeys() throws -> (key: Data, wrapped: [WrappedFileKey]) {
        let example: FileKeys = try Vectors.load("file-key-example")
        let wrapped = example.keys.map { key in
            WrappedFileKey(
                fileID: UUID(example.fileID.data), storeID: UUID(example.storeID.data),
                fileClass: FileClass(rawValue: key.class)!, generation: 2, publicKey: key.publicKey.data,
                wrappedKey: key.wrappedKey.data)
        }
        return (example.fileKey.data, wrapped)
    }

    private func code(_ body: () throws(KeychainError) -> Void) -> KeychainError.Code? {
        do throws(KeychainError) { try body() } catch { return error.code }
        return nil
    }

    private func code(opening file: Data, _ passphrase: SecretBytes? = nil) -> KeychainError.Code? {
        code { () throws(KeychainError) in
            _ = try FileKeyBackup(opening: file, passphrase: passphrase ?? self.passphrase)
        }
    }

    // MARK: The example

    @Test("A backup key is that of the document, byte for byte")
    func file() throws {
        #expect(seal.header.suffix(32) == example.commitment.data)
        #expect(seal.key.copyData() == example.key.data)
        #expect(try sealed(example.records.data) == example.file.data)
        #expect(example.file.data.count == 127 + 37 * 8)
    }

    @Test("The document's backup key opens, and with it the files of the document about files")
    func opens() throws {
        let backup = try FileKeyBackup(opening: example.file.data, passphrase: passphrase)
        #expect(backup.storeID == UUID(example.storeID.data))
        #expect(FileKeyBackup.storeID(of: example.file.data) == backup.storeID)
        let (key, wrapped) = try wrappedKeys()
        #expect(wrapped.count == 5)
        for wrapped in wrapped { #expect(try backup.unwrap(wrapped).copyData() == key) }
    }

    @Test("Files of another store, another generation, or with a changed header do not open")
    func refusals() throws {
        let backup = try FileKeyBackup(opening: example.file.data, passphrase: passphrase)
        for wrapped in try wrappedKeys().wrapped {
            var (foreign, newer, older, changed) = (wrapped, wrapped, wrapped, wrapped)
            foreign.storeID = UUID()
            newer.generation = 3
            older.generation = 1
            changed.wrappedKey = changed.wrappedKey.flipping(39)
            for (wrapped, expected) in [
                (foreign, KeychainError.Code.noSuchKeychain), (newer, .noSuchKeychain), (older, .decode),
                (changed, .decode),
            ] {
                #expect(code { () throws(KeychainError) in _ = try backup.unwrap(wrapped) } == expected)
            }
            let error = #expect(throws: KeychainError.self) { try backup.unwrap(newer) }
            #expect(error?.message.contains("make a newer backup key") == true)
        }
    }

    // MARK: Damage

    @Test("With any byte changed a backup key is refused, and so is one that was cut short or has more")
    func damage() throws {
        let file = example.file.data
        for place in file.indices {
            let expected: Set<KeychainError.Code> =
                switch place {
                case ..<8: [.parameter]
                case 8..<10: [.unimplemented]
                // A parameter out of bounds, or another result.
                case 10..<19: [.decode, .authenticationFailed, .allocation]
                case 19..<83: [.authenticationFailed]
                default: [.decode]
                }
            // One that asks for a gibibyte is within bounds, and slow.
            if place == 10 { continue }
            let found = code(opening: file.flipping(place))
            #expect(found.map(expected.contains) == true, "byte \(place): \(String(describing: found))")
        }
        for count in 0..<file.count {
            #expect(code(opening: file.prefix(count)) == (count < 8 ? .parameter : .decode), "\(count) bytes")
        }
        #expect(code(opening: file + [0]) == .decode)
        #expect(code(opening: file + Data(count: FileKeyBackup.mostBytes)) == .decode)
    }

    @Test("A wrong passphrase, another kind of file and a newer format are three different errors")
    func kinds() throws {
        #expect(
            code(opening: example.file.data, SecretBytes(copying: Data("correct hors".utf8))) == .authenticationFailed)
        let export = try ExportKey(new: passphrase, cost: 1)
        #expect(code(opening: export.header + Data(count: 400)) == .parameter)
        var newer = example.file.data
        newer[9] = 2
        #expect(code(opening: newer) == .unimplemented)
        #expect(
            code { () throws(KeychainError) in
                _ = try ExportKey(opening: example.file.data.prefix(83), passphrase: passphrase)
            } == .parameter)
    }

    @Test("Records that no store has are refused, whoever sealed them")
    func records() throws {
        let records = example.records.data
        let first = records.prefix(37)
        let others: [Data] = [
            Data(), records.dropLast(37), first + records, records.suffix(148) + records.prefix(148),
            records.dropFirst(1), Data([5]) + records.dropFirst(1), records + first,
            first.prefix(1) + Data(count: 4) + records.dropFirst(5),
        ]
        for wrong in others {
            #expect(code(opening: try sealed(wrong)) == .decode, "\(wrong.count) bytes")
        }
        #expect(code(opening: try sealed(records.suffix(148))) == nil)
    }

    @Test("Neither class keys nor the passphrase are in the file, and a real one takes the work of a real export")
    func needles() throws {
        let file = example.file.data
        for generation in 1...2 {
            for number in 1...4 {
                let key = Data(repeating: UInt8(number) ^ UInt8(generation << 6), count: 8)
                #expect(file.range(of: key) == nil)
            }
        }
        #expect(file.range(of: Data(example.passphrase.utf8)) == nil)
        let real = try FileKeyBackupSeal(passphrase: passphrase)
        #expect(Data(real.header[10..<19]) == Data([17, 0, 0, 0, 8, 0, 0, 0, 1]))
        #expect(try FileKeyBackupSeal(passphrase: passphrase, cost: 1).header != real.header)
    }
}

/// The same bytes each time.
private struct SomeBytes: Randomness {
    let data: Data

    func fill(_ bytes: UnsafeMutableRawBufferPointer) { bytes.copyBytes(from: data) }
}
