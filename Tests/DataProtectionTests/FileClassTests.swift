import Foundation
import Glibc
import KeychainClient
import KeychainModel
import KeychainSystem
import KeychainTestSupport
import SwiftKeychain
import Testing

@testable import DataProtection
@testable import DataProtectionCore
@testable import KeychainCrypto

/// Classes of files and directories, files that are encrypted and decrypted in place, and what is no plain file.
@Suite struct FileClassTests {
    private let bytes = content(50_000)

    private func code(_ body: () throws -> Void) -> DataProtectionError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? DataProtectionError)?.code
        }
    }

    // MARK: Classes

    @Test("A write that names no class keeps the one that is there, and is refused while that is locked")
    func keptClass() throws {
        try withProtectedFiles { files, directory throws in
            let url = directory.appendingPathComponent("file")
            for protection in FileProtection.allCases {
                try files.write(bytes, to: url, protection: protection)
                try files.write(Data("new".utf8), to: url)
                #expect(try files.protection(of: url) == protection)
                var rest = Data("part".utf8)
                try files.write(to: url) { target in
                    defer { rest.removeAll() }
                    return rest.copyBytes(to: target)
                }
                #expect(try files.protection(of: url) == protection)
            }
        }
    }

    @Test("A directory that any program makes gives what the nearest one above it gives")
    func inherited() throws {
        try withProtectedFiles { files, directory throws in
            let top = directory.appendingPathComponent("top")
            let deep = top.appendingPathComponent("made/by/mkdir")
            try FileManager.default.createDirectory(at: deep, withIntermediateDirectories: true)
            let url = deep.appendingPathComponent("file")
            #expect(try files.protection(of: deep) == nil)
            try files.setProtection(.complete, of: top)
            #expect(try files.protection(of: deep) == .complete)
            try files.write(bytes, to: url)
            #expect(try files.protection(of: url) == .complete)
            try files.setProtection(.always, of: deep.deletingLastPathComponent())
            #expect(try files.protection(of: deep) == .always)
            // Relative to the present directory it is the same.
            #expect(try files.inheritedProtection(deep.path + "/../mkdir") == .always)
            try files.removeProtection(ofDirectory: top)
            try files.removeProtection(ofDirectory: deep.deletingLastPathComponent())
            #expect(try files.protection(of: deep) == nil)
        }
    }

    @Test("Only a file of the class for an inactive user has headers of version 2, in both copies")
    func versions() throws {
        try withProtectedFiles { files, directory throws in
            for protection in FileProtection.allCases {
                let url = directory.appendingPathComponent("file")
                let version: UInt8 = protection == .completeWhenUserInactive ? 2 : 1
                try files.write(bytes, to: url, protection: protection)
                for next in [nil, FileProtection.completeWhenUserInactive, protection] {
                    if let next { try files.setProtection(next, of: url) }
                    let expected = next == .completeWhenUserInactive ? 2 : version
                    let stored = try Data(contentsOf: url)
                    #expect(FileFormat.slotOffsets.map { stored[$0 + 9] } == [expected, expected], "\(protection)")
                    #expect(try files.read(from: url) == bytes)
                }
            }
        }
    }

    @Test("A plain file with several names is not replaced by a protected one")
    func plainTwin() throws {
        try withProtectedFiles { files, directory throws in
            let (url, twin) = (directory.appendingPathComponent("a"), directory.appendingPathComponent("b"))
            try Data("plain".utf8).write(to: url)
            try FileManager.default.linkItem(at: url, to: twin)
            #expect(code { try files.write(bytes, to: url, protection: .complete) } == .unsupportedFile)
            #expect(try Data(contentsOf: url) == Data("plain".utf8))
            try FileManager.default.removeItem(at: twin)
            try files.write(bytes, to: url, protection: .complete)
        }
    }

    @Test("A file that is written anew keeps its extended attributes")
    func attributes() throws {
        try withProtectedFiles { files, directory throws in
            let url = directory.appendingPathComponent("file")
            for _ in 0..<2 {
                try files.write(bytes, to: url)
                try ExtendedAttributes.set("user.note", Data("mine".utf8), of: url.path)
            }
            try files.write(Data("new".utf8), to: url)
            #expect(try ExtendedAttributes.value("user.note", of: url.path) == Data("mine".utf8))
        }
    }

    @Test(
        "Protecting gives the class that it names, also to a file that is protected", arguments: FileProtection.allCases
    )
    func protectAs(_ former: FileProtection) throws {
        try withProtectedFiles { files, directory throws in
            let url = directory.appendingPathComponent("file")
            for protection in FileProtection.allCases {
                try files.write(bytes, to: url, protection: former)
                #expect(try !files.protect(url), "without a class it keeps its own")
                #expect(try files.protection(of: url) == former)
                #expect(try !files.protect(url, as: protection), "it was no plain file")
                #expect(try files.protection(of: url) == protection)
                #expect(try files.read(from: url) == bytes)
            }
        }
    }

    @Test("A class that cannot be given is an error, and the file keeps its own")
    func protectWhileLocked() throws {
        try withKeychain { keychain in
            let files = ProtectedFiles(connection: Connection(engine: keychain.handler, caller: Caller(groups: ["G"])))
            try keychain.setPasscode("1234")
            let url = keychain.directory.appendingPathComponent("file")
            try files.write(bytes, to: url, protection: .completeUntilFirstUserAuthentication)
            let before = try Data(contentsOf: url)
            try keychain.lock(.now)
            #expect(code { try files.protect(url, as: .complete) } == .locked)
            #expect(try Data(contentsOf: url) == before)
            #expect(try !files.protect(url, as: .completeUntilFirstUserAuthentication), "it has the class")
        }
    }

    @Test("A change of class touches no content, and no older wrapping of the key stays")
    func change() throws {
        try withProtectedFiles { files, directory throws in
            let url = directory.appendingPathComponent("file")
            try files.write(bytes, to: url, protection: .always)
            for protection in [FileProtection.complete, .completeUnlessOpen, .completeUnlessOpen, .always, .complete] {
                let before = try Data(contentsOf: url)
                let wrapped = try FileHeader.newest(in: before.prefix(4096)).claimed.key.wrappedKey
                try files.setProtection(protection, of: url)
                let after = try Data(contentsOf: url)
                #expect(after.dropFirst(4096) == before.dropFirst(4096))
                #expect(after.range(of: wrapped) == nil)
                #expect(FileHeader.intactCopies(in: after.prefix(4096)) == [true, true])
                #expect(try files.protection(of: url) == protection)
                #expect(try files.read(from: url) == bytes)
                #expect(try files.info(of: url).hasBothHeaders)
            }
        }
    }

    @Test("Programs that change the class of one file at the same time take turns")
    func changeAtOnce() throws {
        try withProtectedFiles { files, directory throws in
            let url = directory.appendingPathComponent("file")
            try files.write(bytes, to: url)
            DispatchQueue.concurrentPerform(iterations: 8) { number in
                for round in 0..<10 {
                    let protection = FileProtection.allCases[(number + round) % 4]
                    #expect(throws: Never.self) { try files.setProtection(protection, of: url) }
                    #expect((try? files.read(from: url)) == bytes)
                }
            }
            let sequence = try FileHeader.newest(in: Data(contentsOf: url).prefix(4096)).claimed.sequence
            #expect(sequence == 81, "none was lost")
        }
    }

    @Test("A directory's class is that of new files and stays with the directory; what is there keeps its own")
    func directory() throws {
        try withProtectedFiles { files, directory throws in
            let url = directory.appendingPathComponent("file")
            try files.write(bytes, to: url)
            #expect(try files.protection(of: url) == .completeUntilFirstUserAuthentication)
            #expect(try files.protection(of: directory) == nil)
            try files.setProtection(.complete, of: directory)
            #expect(try files.protection(of: directory) == .complete)
            #expect(try files.protection(of: url) == .completeUntilFirstUserAuthentication)
            #expect(try !files.isProtected(directory))
            let new = directory.appendingPathComponent("new")
            try files.write(bytes, to: new)
            #expect(try files.protection(of: new) == .complete)
            try files.write(bytes, to: new, protection: .always)
            #expect(try files.protection(of: new) == .always, "what is said comes first")
            try files.write(bytes, to: url)
            #expect(try files.protection(of: url) == .completeUntilFirstUserAuthentication, "it keeps what it has")
            try files.removeProtection(ofDirectory: directory)
            try files.removeProtection(ofDirectory: directory)
            #expect(try files.protection(of: directory) == nil)
            try ExtendedAttributes.set(ProtectedFiles.directoryAttribute, Data("all".utf8), of: directory.path)
            let other = directory.appendingPathComponent("other")
            #expect(code { try files.write(bytes, to: other) } == .invalidOption, "and not unprotected")
        }
    }

    // MARK: In place

    @Test("A file that somebody has open for writing is neither protected nor unprotected")
    func openForWriting() throws {
        try withProtectedFiles { files, directory throws in
            let url = directory.appendingPathComponent("file")
            try bytes.write(to: url)
            var writer: FileHandle? = try FileHandle(forUpdating: url)
            #expect(code { try files.protect(url) } == .changedMeanwhile)
            #expect(code { try files.setProtection(.complete, of: url) } == .changedMeanwhile)
            #expect(try Data(contentsOf: url) == bytes)
            // A shared mapping writes without a descriptor.
            let size = bytes.count
            let mapped = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, try #require(writer).fileDescriptor, 0)
            writer = nil
            #expect(code { try files.protect(url) } == .changedMeanwhile)
            munmap(mapped, size)
            #expect(try files.protect(url))
            writer = try FileHandle(forUpdating: url)
            #expect(code { try files.unprotect(url) } == .changedMeanwhile)
            writer = nil
            #expect(try files.unprotect(url))
            #expect(try Data(contentsOf: url) == bytes)
        }
    }

    @Test("A file that somebody opens for writing in the midst stays as it is, and they need not wait")
    func changedMeanwhile() throws {
        try withProtectedFiles { files, directory throws in
            let url = directory.appendingPathComponent("file")
            let large = Data(repeating: 7, count: 2 << 20)
            try large.write(to: url)
            for isProtecting in [true, false] {
                if !isProtecting { #expect(try files.protect(url)) }
                let before = try Data(contentsOf: url)
                var attempts = 0
                func interrupt(_: ProtectedFiles.Progress) {
                    // Refused at once where it would wait; whoever waits has the file when the conversion is given up.
                    let descriptor = open(url.path, O_WRONLY | O_NONBLOCK)
                    #expect(descriptor < 0 && errno == EWOULDBLOCK)
                    attempts += 1
                }
                let failure = code {
                    _ =
                        isProtecting
                        ? try files.protect(url, progress: interrupt) : try files.unprotect(url, progress: interrupt)
                }
                #expect(failure == .changedMeanwhile && attempts > 0)
                #expect(try Data(contentsOf: url) == before)
                let writer = try FileHandle(forUpdating: url)
                try writer.seekToEnd()
                try writer.close()
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["file"])
        }
    }

    @Test("Where there are no leases, writers are found by what the system tells of programs")
    func writersInProc() throws {
        try withProtectedFiles { _, directory throws in
            let url = directory.appendingPathComponent("file")
            try bytes.write(to: url)
            let reader = try FileHandle(forReadingFrom: url)
            #expect(!WritersInProc.exist(of: reader.fileDescriptor))
            var writer: FileHandle? = try FileHandle(forWritingTo: url)
            #expect(WritersInProc.exist(of: reader.fileDescriptor))
            writer = try FileHandle(forUpdating: url)
            let size = bytes.count
            let mapped = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, try #require(writer).fileDescriptor, 0)
            writer = nil
            #expect(WritersInProc.exist(of: reader.fileDescriptor))
            munmap(mapped, size)
            #expect(!WritersInProc.exist(of: reader.fileDescriptor))
        }
    }

    @Test("Only files that were left by killed programs are swept up, not what a user calls alike")
    func sweptNames() throws {
        try withProtectedFiles { files, directory throws in
            let left = ".keychain-new-\(UUID().uuidString.lowercased())"
            let own = [
                ".keychain-new-ideas.txt", ".keychain-new-", left.uppercased(), left + "x", "x" + left,
                ".keychain-new-\(UUID().uuidString)",
            ]
            for name in own + [left] { try bytes.write(to: directory.appendingPathComponent(name)) }
            let link = ".keychain-new-\(UUID().uuidString.lowercased())"
            symlink("nowhere", directory.appendingPathComponent(link).path)
            #expect(try files.removeLeftovers(in: directory) == 1)
            #expect(Set(try FileManager.default.contentsOfDirectory(atPath: directory.path)) == Set(own + [link]))
        }
    }

    @Test("What killed writers have left goes at the next write in that directory, and what is being written stays")
    func sweptByWrite() throws {
        try withProtectedFiles { files, directory throws in
            let names = (0..<3).map { _ in ".keychain-new-\(UUID().uuidString.lowercased())" }
            for name in names { try bytes.write(to: directory.appendingPathComponent(name)) }
            let used = open(directory.appendingPathComponent(names[0]).path, O_RDWR | O_CLOEXEC)
            defer { close(used) }
            try #require(flock(used, LOCK_EX) == 0)
            try files.write(bytes, to: directory.appendingPathComponent("file"))
            let left = try FileManager.default.contentsOfDirectory(atPath: directory.path)
            #expect(Set(left) == [names[0], "file"])
        }
    }

    @Test("Of a protected file with holes the plain one has holes too, and the same content")
    func holes() throws {
        try withProtectedFiles { files, directory throws in
            let url = directory.appendingPathComponent("file")
            try files.write(Data("begin".utf8), to: url)
            let handle = try files.open(url, for: .writing)
            try handle.truncate(to: 64 << 20)
            try handle.write(Data("end".utf8), at: (64 << 20) - 3)
            try handle.close()
            #expect(try files.claimedLength(of: url) == 64 << 20)
            #expect(try files.unprotect(url))
            let plain = try Data(contentsOf: url)
            #expect(
                plain.count == 64 << 20 && plain.prefix(5) == Data("begin".utf8) && plain.suffix(3) == Data("end".utf8))
            var status = stat()
            #expect(stat(url.path, &status) == 0 && status.st_blocks * 512 < 16 << 20)
        }
    }

    @Test("A file that is protected and unprotected keeps mode, owner, times and attributes")
    func inPlace() throws {
        try withProtectedFiles { files, directory throws in
            let url = directory.appendingPathComponent("file")
            try bytes.write(to: url)
            try ExtendedAttributes.set("user.note", Data("kept".utf8), of: url.path)
            chmod(url.path, 0o640)
            let times = [timespec(tv_sec: 1_000_000, tv_nsec: 5), timespec(tv_sec: 2_000_000, tv_nsec: 7)]
            utimensat(AT_FDCWD, url.path, times, 0)
            func check() throws {
                var status = stat()
                #expect(stat(url.path, &status) == 0)
                #expect(status.st_mode & 0o7777 == 0o640 && status.st_uid == getuid())
                #expect(status.st_mtim.tv_sec == 2_000_000 && status.st_mtim.tv_nsec == 7)
                #expect(try ExtendedAttributes.value("user.note", of: url.path) == Data("kept".utf8))
            }
            var reported: [ProtectedFiles.Progress] = []
            #expect(try files.protect(url, as: .complete) { reported.append($0) })
            #expect(reported.last == ProtectedFiles.Progress(completed: 50_000, total: 50_000))
            try check()
            #expect(try !files.protect(url), "it is protected already")
            #expect(try files.read(from: url) == bytes)
            try check()
            #expect(try files.unprotect(url))
            #expect(try Data(contentsOf: url) == bytes)
            try check()
            #expect(try !files.unprotect(url), "it is plain already")
            try files.setProtection(.complete, of: url)
            #expect(try files.protection(of: url) == .complete)
            try check()
        }
    }

    @Test("A file whose mode or names are changed meanwhile is left as it is", arguments: [true, false])
    func accessChangedMeanwhile(changesMode: Bool) throws {
        try withProtectedFiles { files, directory throws in
            let url = directory.appendingPathComponent("file")
            let other = directory.appendingPathComponent("other")
            try bytes.write(to: url)
            let result = code {
                try files.protect(url) { _ in
                    _ = changesMode ? chmod(url.path, 0o600) : link(url.path, other.path)
                }
            }
            #expect(result == .changedMeanwhile)
            #expect(try Data(contentsOf: url) == bytes)
        }
    }

    @Test("A link to a name that is not UTF-8 is refused, and nothing is made of a similar name")
    func foreignLink() throws {
        try withProtectedFiles { files, directory throws in
            let link = directory.appendingPathComponent("link")
            #expect(symlink([CChar(0x63), CChar(bitPattern: 0xe9), 0], link.path) == 0)
            #expect(code { try files.write(bytes, to: link) } == .unsupportedFile)
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["link"])
        }
    }

    @Test("A file with several names is not made two different ones")
    func hardLinks() throws {
        try withProtectedFiles { files, directory throws in
            let url = directory.appendingPathComponent("file")
            try bytes.write(to: url)
            try FileManager.default.linkItem(at: url, to: directory.appendingPathComponent("other"))
            #expect(code { try files.protect(url) } == .unsupportedFile)
            #expect(code { try files.setProtection(.complete, of: url) } == .unsupportedFile)
            #expect(try Data(contentsOf: url) == bytes)
        }
    }

    @Test("A link is followed, and what it leads to is replaced", arguments: [true, false])
    func symbolicLinks(isRelative: Bool) throws {
        try withProtectedFiles { files, directory throws in
            let url = directory.appendingPathComponent("file")
            let link = directory.appendingPathComponent("link")
            let target = isRelative ? "file" : url.path
            try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: target)
            try files.write(bytes, to: link)
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == target)
            #expect(try files.read(from: url) == bytes)
            #expect(try files.read(from: link) == bytes)
            try files.unprotect(link)
            #expect(try Data(contentsOf: url) == bytes)
            try files.protect(link)
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == target)
            let loop = directory.appendingPathComponent("loop")
            try FileManager.default.createSymbolicLink(atPath: loop.path, withDestinationPath: "loop")
            #expect(code { try files.write(bytes, to: loop) } == .system)
            #expect(code { _ = try files.read(from: loop) } == .system)
        }
    }

    @Test("What is no regular file is refused at once, and a pipe is not waited for")
    func otherKinds() throws {
        try withProtectedFiles { files, directory throws in
            let pipe = directory.appendingPathComponent("pipe")
            #expect(mkfifo(pipe.path, 0o600) == 0)
            for url in [directory, pipe, URL(fileURLWithPath: "/dev/null")] {
                #expect(code { _ = try files.read(from: url) } == .unsupportedFile)
                #expect(code { try files.write(bytes, to: url) } == .unsupportedFile)
                #expect(code { try files.protect(url) } == .unsupportedFile)
                #expect(code { try files.unprotect(url) } == .unsupportedFile)
            }
            let missing = directory.appendingPathComponent("missing")
            let error = #expect(throws: DataProtectionError.self) { try files.read(from: missing) }
            #expect(error?.errno == ENOENT && error?.cocoaError(.reading).code == .fileReadNoSuchFile)
            #expect(code { try files.write(bytes, to: missing.appendingPathComponent("file")) } == .system)
            #expect(code { _ = try files.read(from: URL(string: "https://example.com/file")!) } == .unsupportedFile)
        }
    }

    @Test("A plain file is told as such, also one that begins as a protected one does")
    func plain() throws {
        try withProtectedFiles { files, directory throws in
            let url = directory.appendingPathComponent("file")
            try bytes.write(to: url)
            #expect(code { _ = try files.read(from: url) } == .notProtected)
            #expect(try !files.isProtected(url))
            #expect(try files.protection(of: url) == nil)
            #expect(code { _ = try files.info(of: url) } == .notProtected)
            try (Data(FileFormat.magic) + Data(count: 8) + bytes).write(to: url)
            #expect(try files.isProtected(url))
            #expect(code { _ = try files.read(from: url) } == .tampered)
            #expect(try !files.protect(url), "it is taken for what it says it is")
            #expect(code { try files.unprotect(url) } == .tampered)
        }
    }

    @Test("A file of another user keeps its owner and mode, if it may be given to them", .enabled(if: getuid() == 0))
    func owner() throws {
        try withProtectedFiles { files, directory throws in
            let url = directory.appendingPathComponent("file")
            try bytes.write(to: url)
            #expect(chown(url.path, 12_345, 23_456) == 0 && chmod(url.path, 0o4750) == 0)
            func check() throws {
                var status = stat()
                #expect(stat(url.path, &status) == 0)
                #expect(status.st_uid == 12_345 && status.st_gid == 23_456 && status.st_mode & 0o7777 == 0o4750)
            }
            try files.protect(url)
            try check()
            try files.write(bytes, to: url)
            try check()
            try files.unprotect(url)
            try check()
        }
    }

    @Test("A file that cannot be given to its owner loses the right to run as that owner", arguments: [true, false])
    func setUserID(canBeGiven: Bool) throws {
        try withProtectedFiles { _, directory throws in
            var status = stat()
            status.st_uid = geteuid() + 1
            status.st_mode = S_IFREG | 0o6755
            let new = try Replacement(of: directory.appendingPathComponent("file").path, mode: 0o600, SystemFiles())
            try new.takeModeAndOwner(of: status, mustKeepOwner: false) { _, _, _ in canBeGiven ? 0 : -1 }
            #expect(fstat(new.descriptor, &status) == 0)
            #expect(status.st_mode & 0o7777 == (canBeGiven ? 0o6755 : 0o755))
        }
    }

    @Test("A file keeps its mode when it is replaced, and a new one has that of every new file")
    func modes() throws {
        try withProtectedFiles { files, directory throws in
            let url = directory.appendingPathComponent("file")
            let plain = directory.appendingPathComponent("plain")
            try files.write(bytes, to: url)
            #expect(FileManager.default.createFile(atPath: plain.path, contents: nil))
            func mode(_ url: URL) -> mode_t {
                var status = stat()
                return stat(url.path, &status) == 0 ? status.st_mode & 0o7777 : 0
            }
            #expect(mode(url) == mode(plain))
            chmod(url.path, 0o600)
            try files.write(bytes, to: url)
            #expect(mode(url) == 0o600)
        }
    }

    @Test("A file that must not be replaced is not, and options that are none are refused")
    func options() throws {
        try withProtectedFiles { files, directory throws in
            let url = directory.appendingPathComponent("file")
            try files.write(bytes, to: url, options: .withoutOverwriting)
            let error = #expect(throws: DataProtectionError.self) {
                try files.write(Data(), to: url, options: .withoutOverwriting)
            }
            #expect(error?.errno == EEXIST)
            #expect(code { try files.write(Data(), to: url, options: .init(rawValue: 4)) } == .invalidOption)
            #expect(try files.read(from: url) == bytes)
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["file"])
        }
    }

    @Test("A file of another keychain, or of one that is gone, is told from one that was changed")
    func otherKeychain() throws {
        try withProtectedFiles { files, directory throws in
            let url = directory.appendingPathComponent("file")
            try files.write(bytes, to: url)
            try withProtectedFiles { others, _ throws in
                let error = #expect(throws: DataProtectionError.self) { try others.read(from: url) }
                #expect(error?.code == .wrongKey)
                #expect(code { try others.setProtection(.complete, of: url) } == .wrongKey)
                #expect(try others.info(of: url).refusal?.code == .wrongKey)
            }
            #expect(try files.read(from: url) == bytes)
        }
    }

    @Test("A keychain that cannot be opened is told as such, and nothing is made in its place")
    func keysUnavailable() throws {
        try withProtectedFiles { files, directory, keychain throws in
            let url = directory.appendingPathComponent("file")
            try files.write(bytes, to: url)
            let keybag = keychain.directory.appendingPathComponent("store/keybag")
            try FileManager.default.removeItem(at: keybag)
            var configuration = KeychainConfiguration()
            configuration.host = .embedded
            configuration.storeDirectory = keychain.directory.appendingPathComponent("store")
            configuration.deviceKeyDirectory = keychain.directory.appendingPathComponent("device")
            let later = ProtectedFiles(configuration)
            let error = #expect(throws: DataProtectionError.self) { try later.read(from: url) }
            #expect(error?.code == .keysUnavailable)
            #expect(error?.message.contains("keybag") == true)
            #expect(!FileManager.default.fileExists(atPath: keybag.path))
        }
    }
}
