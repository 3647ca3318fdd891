import Foundation
import Glibc
import KeychainClient
import KeychainTestSupport
import SwiftKeychain
import Testing

@testable import DataProtection
@testable import DataProtectionCore

/// Every call that changes the disk fails once, in every way, in everything that is done with files: the old file or the
/// new one is there, whole.
@Suite struct FileFaultTests {
    enum Work: CaseIterable {
        case writeAnew, overwrite, withoutOverwriting, inParts, changeClass, protect, unprotect

        var startsPlain: Bool { self == .protect }
        var startsWithNothing: Bool { self == .writeAnew || self == .withoutOverwriting }
        /// What is there afterwards, if it worked.
        var isProtectedAfterwards: Bool { self != .unprotect }
    }

    private static let old = content(70_000, seed: 3)
    private static let new = content(90_000, seed: 4)

    private func prepare(_ work: Work, _ files: ProtectedFiles, _ url: URL) throws {
        try? FileManager.default.removeItem(at: url)
        if work.startsPlain {
            try Self.old.write(to: url)
        } else if !work.startsWithNothing {
            try files.write(Self.old, to: url, protection: .completeUntilFirstUserAuthentication)
        }
    }

    private func perform(_ work: Work, _ files: ProtectedFiles, _ url: URL) throws {
        switch work {
        case .writeAnew, .overwrite: try files.write(Self.new, to: url, protection: .complete)
        case .withoutOverwriting:
            try files.write(Self.new, to: url, protection: .complete, options: .withoutOverwriting)
        case .inParts:
            var rest = Self.new[...]
            try files.write(to: url, protection: .complete) { target in
                let part = rest.prefix(min(30_000, target.count))
                part.copyBytes(to: target)
                rest = rest.dropFirst(part.count)
                return part.count
            }
        case .changeClass: try files.setProtection(.complete, of: url)
        case .protect: try files.protect(url, as: .complete)
        case .unprotect: try files.unprotect(url)
        }
    }

    /// What a reader finds; nil: no file.
    private func found(_ files: ProtectedFiles, _ url: URL) throws -> Data? {
        guard FileManager.default.fileExists(atPath: url.path) else { return nil }
        return try files.isProtected(url) ? try files.read(from: url) : try Data(contentsOf: url)
    }

    @Test(
        "After a full disk, a broken one and a kill at any step, the old file or the new one is there, whole",
        arguments: Work.allCases, FaultyDisk.Fault.allCases)
    func everyStep(work: Work, fault: FaultyDisk.Fault) throws {
        let disk = FaultyDisk()
        try withProtectedFiles(files: disk) { files, directory throws in
            let url = directory.appendingPathComponent("file")
            let before: Data? = work.startsWithNothing ? nil : Self.old
            let after = [.changeClass, .protect, .unprotect].contains(work) ? Self.old : Self.new
            disk.fail(at: nil)
            try prepare(work, files, url)
            disk.fail(at: nil)
            try perform(work, files, url)
            let stepCount = disk.calls.count
            #expect(stepCount >= 4)
            for step in 0..<stepCount {
                disk.fail(at: nil)
                try prepare(work, files, url)
                disk.fail(at: step, fault)
                let name = disk.calls.last
                let outcome = Result { try perform(work, files, url) }
                disk.fail(at: nil)
                let present = try found(files, url)
                #expect(present == before || present == after, "step \(step) \(name ?? "")")
                if case .success = outcome { #expect(present == after) }
                if case .failure(let error) = outcome {
                    let code = (error as? DataProtectionError)?.code
                    #expect(code == .system, "\(error)")
                }
                let leftovers = try FileManager.default.contentsOfDirectory(atPath: directory.path).filter {
                    Replacement.isName($0)
                }
                // A program that is killed leaves a file that can be told, and is swept up; any other leaves nothing.
                if fault == .killed {
                    #expect(leftovers.count <= 1)
                    #expect(try files.removeLeftovers(in: directory) == leftovers.count)
                } else if !disk.calls.contains("remove") || step != stepCount - 1 {
                    #expect(leftovers.count <= (work == .withoutOverwriting ? 1 : 0))
                    try files.removeLeftovers(in: directory)
                }
                // And it goes on from there.
                try perform(work, files, url, after: present)
                #expect(try found(files, url) == after)
            }
        }
    }

    private func perform(_ work: Work, _ files: ProtectedFiles, _ url: URL, after present: Data?) throws {
        if work == .withoutOverwriting && present != nil { return }
        try perform(work, files, url)
    }

    @Test(
        "Content is on the disk before it has its name, and the name before the call returns", arguments: Work.allCases)
    func order(work: Work) throws {
        let disk = FaultyDisk()
        try withProtectedFiles(files: disk) { files, directory throws in
            let url = directory.appendingPathComponent("file")
            try prepare(work, files, url)
            disk.fail(at: nil)
            try perform(work, files, url)
            let calls = disk.calls
            let lastWrite = try #require(calls.lastIndex(of: "write"))
            if work == .changeClass {
                // One copy of the header is on the disk before the other is touched.
                #expect(calls == ["write", "sync", "write", "sync"])
                return
            }
            let sync = try #require(calls.firstIndex(of: "sync"))
            let naming = try #require(calls.firstIndex { $0 == "rename" || $0 == "link" })
            let directorySync = try #require(calls.firstIndex(of: "sync directory"))
            #expect(lastWrite < sync && sync < naming && naming < directorySync)
        }
    }

    @Test("Who does not want to wait for the disk does not")
    func unsynced() throws {
        let disk = FaultyDisk()
        try withProtectedFiles(files: disk) { files, directory throws in
            let url = directory.appendingPathComponent("file")
            disk.fail(at: nil)
            try files.write(Self.new, to: url, options: .withoutWaitingForDisk)
            #expect(disk.calls.filter { $0.hasPrefix("sync") } == [])
            #expect(try files.read(from: url) == Self.new)
        }
    }

    @Test("What a program is writing at this moment is not swept up")
    func sweep() throws {
        try withProtectedFiles { files, directory throws in
            let url = directory.appendingPathComponent("file")
            try files.write(to: url) { _ throws in
                #expect(try files.removeLeftovers(in: directory) == 0)
                return 0
            }
            #expect(try files.read(from: url) == Data())
            let name = ".keychain-new-00000000-0000-4000-8000-000000000000"
            try Data("left".utf8).write(to: directory.appendingPathComponent(name))
            #expect(try files.removeLeftovers(in: directory) == 1)
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["file"])
        }
    }

    @Test("An error of the reader or writer of parts arrives as it is, and the old file stays")
    func callersError() throws {
        struct OwnError: Error {}
        try withProtectedFiles { files, directory throws in
            let url = directory.appendingPathComponent("file")
            try files.write(Self.old, to: url)
            #expect(throws: OwnError.self) { try files.write(to: url) { _ in throw OwnError() } }
            #expect(throws: OwnError.self) { try files.read(from: url) { _ in throw OwnError() } }
            #expect(try files.read(from: url) == Self.old)
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["file"])
        }
    }
}
