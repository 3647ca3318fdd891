import Foundation
import KeychainModel
import KeychainTestSupport
import Testing

@testable import DataProtection
@testable import DataProtectionCore
@testable import KeychainCrypto
@testable import SealedFiles

/// Files that another program computed from docs/file-format.md alone (Tests/Vectors/file-example.py).
@Suite struct FileExampleTests {
    private struct Example: Decodable {
        struct File: Decodable {
            var name: String
            var content: String
            var file: String
        }
        var fileKey: String
        var files: [File]
    }

    private static let example: Result<Example, any Error> = Result {
        try JSONDecoder().decode(
            Example.self, from: Data(contentsOf: Repository.file("Tests/Vectors/file-example.json")))
    }

    private func bytes(_ text: String) -> Data {
        let digits = Array(text.utf8)
        return Data(
            stride(from: 0, to: digits.count, by: 2).map {
                UInt8(String(decoding: digits[$0...($0 + 1)], as: UTF8.self), radix: 16)!
            })
    }

    @Test("They open here, every part of them by itself")
    func files() throws {
        let example = try Self.example.get()
        #expect(example.files.count == 3)
        let fileKey = try KeyMaterial { $0.copyBytes(from: bytes(example.fileKey)) }
        for file in example.files {
            let content = bytes(file.content)
            let directory = try FileManager.default.url(
                for: .itemReplacementDirectory, in: .userDomainMask,
                appropriateFor: FileManager.default.temporaryDirectory, create: true)
            defer { try? FileManager.default.removeItem(at: directory) }
            let url = directory.appendingPathComponent("file")
            try bytes(file.file).write(to: url)
            let open = try OpenFile(reading: url.path)
            let header = try open.header().verified(fileKey: fileKey)
            #expect(header.key.fileClass == .completeUntilFirstUserAuthentication && header.key.generation == 2)
            #expect(header.storedSize == open.size)
            let reader = SealedFileReader(
                open.descriptor, url.path, header: header,
                cipher: FileCipher(fileKey: fileKey, fileID: header.key.fileID))
            #expect(reader.length == content.count, "\(file.name)")
            for start in stride(from: 0, through: content.count, by: 701) {
                for count in [0, 1, 5, 4096, 5000, content.count] where start + count <= content.count {
                    var part = Data(count: count)
                    let range = UInt64(start)..<UInt64(start + count)
                    let result = part.withUnsafeMutableBytes { bytes in
                        Result { () throws(DataProtectionError) in try reader.read(range, into: bytes) }
                    }
                    try result.get()
                    #expect(part == content[start..<(start + count)], "\(file.name) from \(start), \(count) bytes")
                }
            }
            // And the header is written anew as it was.
            #expect(header.encoded(fileKey: fileKey, slot: 0) == bytes(file.file).prefix(512))
        }
    }
}
