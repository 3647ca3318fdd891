import DataProtection
import DataProtectionCore
import Foundation
import KeychainClient
import KeychainModel
import KeychainTestSupport
import SwiftKeychain
import Testing

/// Whole files: written, read, told apart from plain ones.
@Suite struct ProtectedFilesTests {
    @Test(
        "Any content comes back, whatever its length and class",
        arguments: [
            0, 1, 1023, 4096, 16_383, 16_384, 16_385, 32_768, 64 * 16_384 - 1, 64 * 16_384, 64 * 16_384 + 1,
            5 << 20, (64 * 64 * 16_384) + 70_000,
        ])
    func roundTrip(size: Int) throws {
        try withProtectedFiles { files, directory throws in
            let url = directory.appendingPathComponent("file")
            let content = content(size)
            for protection in size > 1 << 20 ? [.complete] : FileProtection.allCases {
                try files.write(content, to: url, protection: protection)
                #expect(try files.read(from: url) == content)
                #expect(try files.protection(of: url) == protection)
                #expect(try files.isProtected(url))
                let stored = try Data(contentsOf: url)
                if size > 100 { #expect(stored.range(of: content.prefix(64)) == nil) }
            }
        }
    }

    @Test("Each class of a header has its name here", arguments: FileClass.allCases)
    func classes(fileClass: FileClass) { #expect(FileProtection(fileClass).fileClass == fileClass) }

    @Test("In parts as well, of whatever size", arguments: [4095, 16_384, 1_000_003, 4 << 20, 9 << 20])
    func parts(size: Int) throws {
        try withProtectedFiles { files, directory throws in
            let url = directory.appendingPathComponent("file")
            let content = content(5_500_000)
            var rest = content[...]
            try files.write(to: url, protection: .complete) { target in
                let part = rest.prefix(min(size, target.count))
                part.copyBytes(to: target)
                rest = rest.dropFirst(part.count)
                return part.count
            }
            #expect(try files.read(from: url) == content)
            var read = Data()
            try files.read(from: url) { read.append(contentsOf: $0) }
            #expect(read == content)
        }
    }
}
