import DataProtection
import DataProtectionCore
import Foundation
import KeychainClient
import KeychainFileModel
import KeychainModel
import KeychainTestSupport
import SwiftKeychain
import Testing

/// How much of the disk a file takes that is changed in place.
@Suite struct FileSpaceTests {
    /// What is overwritten between two syncs stays until the second, and pages that are not known to be free are looked
    /// for only from 1 MiB on.
    private static let margin: UInt64 = 2 << 20

    enum Way: CaseIterable {
        case oneHandle, twoHandles, opened, short
    }

    @Test(
        "However often it is overwritten, a file takes at most a quarter more than its content", arguments: Way.allCases
    )
    func overwritten(way: Way) throws {
        var generator = SeededGenerator()
        try withProtectedFiles { _, directory, keychain throws in
            let connection = Connection(engine: keychain.handler, caller: Caller(groups: ["G"]))
            let attic = directory.appendingPathComponent("attic")
            try FileManager.default.createDirectory(at: attic, withIntermediateDirectories: true)
            // Nothing is gained here by waiting for a disk.
            let files = ProtectedFiles(connection: connection, files: ForgetfulDisk(attic: attic).start())
            let url = directory.appendingPathComponent("file")
            let length = 3 << 20
            try files.write(content(length), to: url)
            var handles = try (0..<2).map { _ in try files.open(url, for: .writing) }
            for round in 0..<1500 {
                let handle = handles[way == .twoHandles ? round % 2 : 0]
                switch way {
                case .short where round % 3 == 0:
                    // Chunks of one, two, three and four pages at the end.
                    try handle.truncate(to: UInt64(length - generator.below(60_000)))
                    try handle.write(Data([1]), at: UInt64(length - 1))
                default:
                    let count = 1 + generator.below(generator.below(10) == 0 ? 200_000 : 20_000)
                    try handle.write(content(count), at: UInt64(generator.below(length - count)))
                }
                if generator.below(4) == 0 { try handle.sync() }
                if way == .opened && round % 10 == 9 {
                    handle.closeWithoutWaiting()
                    handles[0] = try files.open(url, for: .writing)
                }
                guard round % 50 == 49 else { continue }
                try handles[0].sync()
                let audit = try FileAudit(of: url, connection)
                let most = UInt64(length) * 5 / 4 + Self.margin
                #expect(audit.storedPages * 4096 <= most, "round \(round), seed \(generator.seed)")
                #expect(audit.usedPages * 4096 <= UInt64(length) * 101 / 100)
            }
        }
    }
}
