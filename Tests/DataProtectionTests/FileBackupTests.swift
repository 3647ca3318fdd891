import CKeychainLinux
import Foundation
import Glibc
import KeychainCrypto
import KeychainModel
import KeychainTestSupport
import Testing

@testable import DataProtection
@testable import DataProtectionCore
@testable import SealedFiles

/// Copies of protected files, while locked and while programs write.
@Suite struct FileBackupTests {
    @Test("Files of all classes are copied byte for byte while locked", arguments: KeychainHost.carriers)
    func locked(host: KeychainHost) throws {
        try withProtectedFiles(on: host) { files, directory, keychain throws in
            try keychain.setPasscode("1234")
            for protection in FileProtection.allCases {
                let url = directory.appendingPathComponent(protection.rawValue)
                try files.write(content(2_500_000), to: url, protection: protection)
            }
            try keychain.lock(.now)
            for protection in FileProtection.allCases {
                let url = directory.appendingPathComponent(protection.rawValue)
                let copy = directory.appendingPathComponent("copy of \(protection.rawValue)")
                var parts: [UInt64] = []
                let isMade = try files.backUp(url, to: copy) { parts.append($0.completed) }
                #expect(isMade)
                let size = UInt64(try Data(contentsOf: url).count)
                #expect(parts == parts.sorted() && parts.last == size)
                #expect(try Data(contentsOf: copy) == Data(contentsOf: url))
                #expect(try files.backUp(url, to: copy) == false)
            }
            try keychain.unlock("1234")
            let copy = directory.appendingPathComponent("copy of complete")
            #expect(try files.read(from: copy) == content(2_500_000))
        }
    }

    @Test(
        "A copy has the mode, the times and the attributes, and is made anew when any of size, time or header changed")
    func rerun() throws {
        try withProtectedFiles { files, directory throws in
            let (url, copy) = (directory.appendingPathComponent("file"), directory.appendingPathComponent("copy"))
            try files.write(content(1000), to: url, protection: .complete)
            try ExtendedAttributes.set("user.note", Data("kept".utf8), of: url.path)
            #expect(chmod(url.path, 0o640) == 0)
            let past = Date(timeIntervalSinceReferenceDate: 1000.5)
            try FileManager.default.setAttributes([.modificationDate: past], ofItemAtPath: url.path)
            #expect(try files.backUp(url, to: copy))
            let attributes = try FileManager.default.attributesOfItem(atPath: copy.path)
            #expect(attributes[.modificationDate] as? Date == past)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o640)
            #expect(try ExtendedAttributes.value("user.note", of: copy.path) == Data("kept".utf8))
            #expect(try files.backUp(url, to: copy) == false)
            // The header alone, with the time put back.
            try files.setProtection(.always, of: url)
            try FileManager.default.setAttributes([.modificationDate: past], ofItemAtPath: url.path)
            #expect(try files.backUp(url, to: copy))
            #expect(try files.protection(of: copy) == .always)
            try files.write(content(2000), to: url)
            #expect(try files.backUp(url, to: copy))
            #expect(try files.read(from: copy) == content(2000))
        }
    }

    @Test("Plain files are refused, and nothing but a copy is ever replaced")
    func refusals() throws {
        try withProtectedFiles { files, directory throws in
            let (url, plain) = (directory.appendingPathComponent("file"), directory.appendingPathComponent("plain"))
            try files.write(content(1000), to: url)
            try Data("plain".utf8).write(to: plain)
            let copy = directory.appendingPathComponent("copy")
            #expect(
                failure { () throws(DataProtectionError) in try files.backUp(plain, to: copy) }?.code == .notProtected)
            #expect(!FileManager.default.fileExists(atPath: copy.path))
            let occupied = failure { () throws(DataProtectionError) in try files.backUp(url, to: plain) }
            #expect(occupied?.errno == EEXIST && occupied?.message.contains("is not replaced") == true)
            #expect(try Data(contentsOf: plain) == Data("plain".utf8))
            let link = directory.appendingPathComponent("link")
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: plain)
            #expect(failure { () throws(DataProtectionError) in try files.backUp(url, to: link) }?.errno == EEXIST)
            let onto = failure { () throws(DataProtectionError) in try files.backUp(url, to: url) }
            #expect(onto?.code == .unsupportedFile)
            #expect(try files.read(from: url) == content(1000))
        }
    }

    @Test("A file that is cut short or has no header does not take the place of its copy, and a longer one does")
    func damaged() throws {
        try withProtectedFiles { files, directory throws in
            let (url, copy) = (directory.appendingPathComponent("file"), directory.appendingPathComponent("copy"))
            try files.write(content(50_000), to: url)
            try files.backUp(url, to: copy)
            let whole = try Data(contentsOf: url)
            try whole.dropLast(1).write(to: url)
            #expect(failure { () throws(DataProtectionError) in try files.backUp(url, to: copy) }?.code == .truncated)
            var broken = whole
            for offset in FileFormat.slotOffsets { broken[offset + 100] ^= 1 }
            try broken.write(to: url)
            #expect(failure { () throws(DataProtectionError) in try files.backUp(url, to: copy) }?.code == .tampered)
            var newer = whole
            for offset in FileFormat.slotOffsets { newer[offset + 9] = 3 }
            try newer.write(to: url)
            #expect(failure { () throws(DataProtectionError) in try files.backUp(url, to: copy) }?.code == .newerFormat)
            #expect(try Data(contentsOf: copy) == whole)
            // All of its content is there, and a salvage reads it.
            try (whole + Data(count: 1)).write(to: url)
            #expect(try files.backUp(url, to: copy) && Data(contentsOf: copy) == whole + Data(count: 1))
        }
    }

    @Test("A copy waits until nobody writes to the file in place")
    func waits() throws {
        try withProtectedFiles { files, directory throws in
            let (url, copy) = (directory.appendingPathComponent("file"), directory.appendingPathComponent("copy"))
            try files.write(content(50_000), to: url)
            var writer: SealedFile.Descriptor? = SealedFile.Descriptor(
                open(url.path, O_RDWR | O_CLOEXEC), mayWrite: true, mustClose: true)
            let number = try #require(writer).number
            #expect(ckeychain_await_lock(number, Int64(FileFormat.headerByteCount)) == 0)
            var waits = 0
            let isMade = try files.backUp(url, to: copy) { part in
                if part.total != nil { return }
                waits += 1
                #expect(!FileManager.default.fileExists(atPath: copy.path))
                if waits == 3 { writer = nil }
            }
            #expect(isMade && waits == 3)
            #expect(try files.read(from: copy) == content(50_000))
            // Readers that copy do not keep each other waiting.
            let other = try SharedFile(url.path) {}
            try FileManager.default.removeItem(at: copy)
            var otherWaits = 0
            let isMadeAgain = try files.backUp(url, to: copy) { part in otherWaits += part.total == nil ? 1 : 0 }
            #expect(isMadeAgain && otherWaits == 0)
            _ = other.file.descriptor
        }
    }

    @Test("A file that is changed without a lock while it is copied is an error, and no copy")
    func changedMeanwhile() throws {
        try withProtectedFiles { files, directory throws in
            let (url, copy) = (directory.appendingPathComponent("file"), directory.appendingPathComponent("copy"))
            try files.write(content(50_000), to: url)
            let error = failure { () throws(DataProtectionError) in
                try files.backUp(url, to: copy) { _ in
                    _ = chmod(url.path, 0o644); _ = chmod(url.path, 0o600)
                }
            }
            #expect(error?.code == .changedMeanwhile)
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["file"])
        }
    }

    @Test("Directories keep mode, time, attributes and the class that they give")
    func directories() throws {
        try withProtectedFiles { files, directory throws in
            let source = directory.appendingPathComponent("source")
            let copy = directory.appendingPathComponent("copy")
            try FileManager.default.createDirectory(at: source, withIntermediateDirectories: false)
            try files.setProtection(.complete, of: source)
            let past = Date(timeIntervalSinceReferenceDate: 1000.5)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o550, .modificationDate: past], ofItemAtPath: source.path)
            for _ in 0..<2 {
                _ = try files.openDirectory(copy.path, .backup)
                var status = stat()
                #expect(stat(copy.path, &status) == 0 && status.st_mode & 0o700 == 0o700)
                try files.finishDirectory(copy.path, like: source.path, .backup)
                let attributes = try FileManager.default.attributesOfItem(atPath: copy.path)
                #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o550)
                #expect(attributes[.modificationDate] as? Date == past)
                #expect(try files.protection(of: copy) == .complete)
            }
            for path in [source.path, copy.path] { #expect(chmod(path, 0o700) == 0) }
        }
    }
}
