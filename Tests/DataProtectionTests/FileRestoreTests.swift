import Foundation
import Glibc
import KeychainModel
import KeychainTestSupport
import Testing

@testable import DataProtection
@testable import DataProtectionCore
@testable import KeychainCrypto

/// Files of one keychain that come under another one.
@Suite struct FileRestoreTests {
    private static let length = 300_000

    /// Runs `body` with copies of a file of each class, made while their keychain was locked, in a directory of another
    /// keychain, and a backup key that was made before the files.
    private func withBackup(
        on host: KeychainHost = .embedded, _ disk: FaultyDisk = FaultyDisk(),
        _ body: (_ files: ProtectedFiles, _ directory: URL, _ key: FileBackupKey, _ other: TestKeychain) throws -> Void
    ) throws {
        try withProtectedFiles(on: host) { source, sourceDirectory, keychain throws in
            try keychain.setPasscode("1234")
            let key = try keychain.backupKey()
            for protection in FileProtection.allCases {
                let url = sourceDirectory.appendingPathComponent(protection.rawValue)
                try source.write(content(Self.length), to: url, protection: protection)
            }
            try keychain.lock(.now)
            try withProtectedFiles(on: host, files: disk) { files, directory, other throws in
                for protection in FileProtection.allCases {
                    try source.backUp(
                        sourceDirectory.appendingPathComponent(protection.rawValue),
                        to: directory.appendingPathComponent(protection.rawValue))
                }
                try body(files, directory, key, other)
            }
        }
    }

    private func url(_ protection: FileProtection, _ directory: URL) -> URL {
        directory.appendingPathComponent(protection.rawValue)
    }

    // MARK: Done

    @Test(
        "What was copied while locked opens in another keychain, and nothing but the header was written",
        arguments: KeychainHost.carriers)
    func inPlace(host: KeychainHost) throws {
        try withBackup(on: host) { files, directory, key, other throws in
            try other.setPasscode("5678")
            for protection in FileProtection.allCases {
                let url = url(protection, directory)
                let before = try Data(contentsOf: url)
                let date = try FileManager.default.attributesOfItem(atPath: url.path)[.modificationDate] as? Date
                #expect(try files.info(of: url).keychain == key.keychain)
                #expect(failure { () throws(DataProtectionError) in _ = try files.read(from: url) }?.code == .wrongKey)
                #expect(try files.restore(url, with: key))
                let after = try Data(contentsOf: url)
                #expect(after.count == before.count)
                #expect(after.dropFirst(FileFormat.headerByteCount) == before.dropFirst(FileFormat.headerByteCount))
                #expect(try files.read(from: url) == content(Self.length))
                let info = try files.info(of: url)
                #expect(info.protection == protection && info.hasBothHeaders && info.keychain != key.keychain)
                #expect(try FileManager.default.attributesOfItem(atPath: url.path)[.modificationDate] as? Date == date)
                #expect(try files.restore(url, with: key) == false)
                #expect(try Data(contentsOf: url) == after)
            }
            try other.lock(.now)
            for protection in FileProtection.allCases {
                let isLocked = protection == .completeUnlessOpen || protection.fileClass.closesWithLock
                let error = failure { () throws(DataProtectionError) in
                    _ = try files.read(from: self.url(protection, directory))
                }
                #expect(error?.code == (isLocked ? .locked : nil), "its class is what it was")
            }
        }
    }

    @Test(
        "A copy is restored, the file stays as it is, and another file is never replaced",
        arguments: KeychainHost.carriers)
    func asCopy(host: KeychainHost) throws {
        try withBackup(on: host) { files, directory, key, _ throws in
            for protection in FileProtection.allCases {
                let url = url(protection, directory)
                let copy = directory.appendingPathComponent("restored \(protection.rawValue)")
                let before = try Data(contentsOf: url)
                #expect(try files.restore(url, to: copy, with: key))
                #expect(try Data(contentsOf: url) == before)
                #expect(try files.read(from: copy) == content(Self.length))
                #expect(try Data(contentsOf: copy).dropFirst(4096) == before.dropFirst(4096))
                #expect(try files.restore(url, to: copy, with: key) == false)
                let other = directory.appendingPathComponent("other \(protection.rawValue)")
                try files.write(Data("other".utf8), to: other)
                let plain = directory.appendingPathComponent("plain")
                try Data("plain".utf8).write(to: plain)
                for place in [other, plain] {
                    let error = failure { () throws(DataProtectionError) in
                        _ = try files.restore(url, to: place, with: key)
                    }
                    #expect(error?.errno == EEXIST)
                }
                #expect(try files.read(from: other) == Data("other".utf8))
                // What is this keychain's already is copied as it is.
                let second = directory.appendingPathComponent("second \(protection.rawValue)")
                #expect(try files.restore(copy, to: second, with: key))
                #expect(try Data(contentsOf: second) == Data(contentsOf: copy))
            }
        }
    }

    @Test("A locked keychain takes files of the classes that can be made then, and leaves the others as they are")
    func whileLocked() throws {
        try withBackup { files, directory, key, other throws in
            try other.setPasscode("5678")
            try other.lock(.now)
            for protection in FileProtection.allCases {
                let url = url(protection, directory)
                let before = try Data(contentsOf: url)
                let error = failure { () throws(DataProtectionError) in _ = try files.restore(url, with: key) }
                let isLocked = protection.fileClass.closesWithLock
                #expect(error?.code == (isLocked ? .locked : nil))
                if isLocked { #expect(try Data(contentsOf: url) == before) }
                // One that is this keychain's and locked is left.
                let again = failure { () throws(DataProtectionError) in
                    #expect(try files.restore(url, with: key) == false)
                }
                #expect(again?.code == (isLocked ? .locked : nil))
            }
            try other.unlock("5678")
            for protection in FileProtection.allCases where protection.fileClass.closesWithLock {
                #expect(try files.restore(url(protection, directory), with: key))
            }
            for protection in FileProtection.allCases {
                #expect(try files.read(from: url(protection, directory)) == content(Self.length))
            }
        }
    }

    @Test("A file whose own keychain has lost its key comes back with a backup key from before")
    func afterLoss() throws {
        try withProtectedFiles { files, directory, keychain throws in
            let url = directory.appendingPathComponent("file")
            try keychain.setPasscode("1234")
            try files.write(content(100), to: url, protection: .complete)
            let key = try keychain.backupKey()
            let policy = PasscodePolicy(erasesAfterTenFailures: true)
            _ = try keychain.handler.handle(.passcode(.setPolicy(policy, passcode: .of("1234"))), from: .owner)
            for number in 0..<10 {
                keychain.clock.advance(by: 4000)
                _ = try? keychain.unlock("wrong \(number)")
            }
            #expect(failure { () throws(DataProtectionError) in _ = try files.read(from: url) }?.code == .wrongKey)
            #expect(try files.restore(url, with: key))
            #expect(try files.read(from: url) == content(100))
        }
    }

    // MARK: Refused

    @Test("After a renewal of the keys a file says that a newer backup key is needed")
    func renewed() throws {
        try withProtectedFiles { source, sourceDirectory, keychain throws in
            let key = try keychain.backupKey()
            let url = sourceDirectory.appendingPathComponent("file")
            try keychain.setPasscode("1234")
            try source.write(content(100), to: url)
            try withProtectedFiles { files, directory throws in
                let copy = directory.appendingPathComponent("file")
                try files.backUp(url, to: copy)
                let before = try Data(contentsOf: copy)
                let error = failure { () throws(DataProtectionError) in _ = try files.restore(copy, with: key) }
                #expect(error?.code == .wrongKey)
                #expect(error?.message.contains("make a newer backup key") == true)
                #expect(try Data(contentsOf: copy) == before)
                #expect(try files.restore(copy, with: try keychain.backupKey()))
                #expect(try files.read(from: copy) == content(100))
            }
        }
    }

    @Test("A file of a third keychain, a plain one and a damaged one are refused, each in its own words")
    func refusals() throws {
        try withBackup { files, directory, key, _ throws in
            let url = url(.completeUnlessOpen, directory)
            let whole = try Data(contentsOf: url)
            func code(_ bytes: Data) throws -> DataProtectionError.Code? {
                try bytes.write(to: url)
                defer { #expect((try? Data(contentsOf: url)) == bytes, "a refused file stays as it is") }
                return failure { () throws(DataProtectionError) in _ = try files.restore(url, with: key) }?.code
            }
            #expect(try code(Data("plain".utf8)) == .notProtected)
            #expect(try code(whole.dropLast(1)) == .truncated)
            #expect(try code(whole + [0]) == .tampered)
            var changed = whole
            for offset in FileFormat.slotOffsets { changed[offset + 184] ^= 1 }
            #expect(try code(changed) == .tampered, "neither slot has its checksum")
            var newer = whole
            for offset in FileFormat.slotOffsets { newer[offset + 9] = 3 }
            #expect(try code(newer) == .newerFormat)
            try withProtectedFiles { third, thirdDirectory throws in
                let foreign = thirdDirectory.appendingPathComponent("file")
                try third.write(content(10), to: foreign)
                let error = failure { () throws(DataProtectionError) in _ = try files.restore(foreign, with: key) }
                #expect(
                    error?.code == .wrongKey && error?.message.contains(key.keychain.uuidString.lowercased()) == true)
                #expect(try third.read(from: foreign) == content(10))
            }
        }
    }

    @Test("Each flipped byte of a header is without effect or refused, and never gives another content")
    func everyByte() throws {
        try withBackup { files, directory, key, _ throws in
            let url = url(.completeUnlessOpen, directory)
            let whole = try Data(contentsOf: url)
            for offset in 0..<FileFormat.slotByteCount {
                var bytes = whole
                for slot in FileFormat.slotOffsets { bytes[slot + offset] ^= 0x01 }
                try bytes.write(to: url)
                let error = failure { () throws(DataProtectionError) in _ = try files.restore(url, with: key) }
                #expect(error != nil, "byte \(offset) of both slots")
                #expect(try Data(contentsOf: url) == bytes)
                bytes = whole
                bytes[offset] ^= 0x01
                try bytes.write(to: url)
                #expect(try files.restore(url, with: key), "byte \(offset) of the first slot")
                #expect(try files.read(from: url) == content(Self.length))
            }
        }
    }

    @Test("A backup key that does not open says why: passphrase, damage, another kind of file, a newer format")
    func backupKeys() throws {
        try withProtectedFiles { _, directory, keychain throws in
            let url = directory.appendingPathComponent("files.key")
            let whole = try keychain.writeBackupKey(to: url)
            func error(_ bytes: Data, _ passphrase: String = backupPassphrase) throws -> DataProtectionError? {
                try bytes.write(to: url)
                return failure { () throws(DataProtectionError) in
                    _ = try FileBackupKey(contentsOf: url, passphrase: Data(passphrase.utf8))
                }
            }
            #expect(try error(whole) == nil)
            let wrong = try error(whole, "wrong")
            #expect(wrong?.code == .wrongPassphrase && wrong?.status == -25293)
            #expect(wrong?.cocoaError(.reading).code == .fileReadNoPermission)
            #expect(try error(whole, "")?.code == .invalidOption)
            #expect(try error(Data("text".utf8))?.code == .unsupportedFile)
            #expect(try error(Data())?.code == .unsupportedFile)
            #expect(try error(whole.dropLast(1))?.code == .tampered)
            #expect(try error(whole + Data(count: 1 << 20))?.code == .tampered)
            #expect(try error(whole.prefix(60))?.code == .tampered)
            var newer = whole
            newer[9] = 2
            #expect(try error(newer)?.code == .newerFormat)
            for place in 83..<whole.count {
                var bytes = whole
                bytes[place] ^= 0x40
                #expect(try error(bytes)?.code == .tampered, "byte \(place)")
            }
        }
    }

    // MARK: Cut short

    @Test(
        "Cut short at any step, a file opens with one of the two keychains, and the next run finishes it",
        arguments: FaultyDisk.Fault.allCases)
    func everyStep(fault: FaultyDisk.Fault) throws {
        let disk = FaultyDisk()
        try withBackup(on: .embedded, disk) { files, directory, key, _ throws in
            let url = url(.complete, directory)
            let whole = try Data(contentsOf: url)
            disk.fail(at: nil)
            try files.restore(url, with: key)
            #expect(disk.calls == ["sync", "write", "sync", "write", "sync"])
            for step in 0..<5 {
                disk.fail(at: nil)
                try whole.write(to: url)
                disk.fail(at: step, fault)
                let error = failure { () throws(DataProtectionError) in _ = try files.restore(url, with: key) }
                #expect(error?.code == .system)
                disk.fail(at: nil)
                let bytes = try Data(contentsOf: url)
                #expect(bytes.dropFirst(4096) == whole.dropFirst(4096))
                let present = try files.info(of: url)
                #expect(present.keychain == key.keychain || present.refusal == nil, "step \(step)")
                _ = try files.restore(url, with: key)
                let info = try files.info(of: url)
                #expect(info.hasBothHeaders && info.refusal == nil, "step \(step)")
                #expect(try files.read(from: url) == content(Self.length))
                #expect(try files.restore(url, with: key) == false)
                let page = try Data(contentsOf: url).prefix(4096)
                #expect(page.range(of: key.keychain.bytes) == nil, "nothing of the former header is left")
            }
        }
    }

    @Test(
        "Copies that are cut short at any step are not there, or are whole",
        arguments: FaultyDisk.Fault.allCases, [false, true])
    func everyStepOfCopies(fault: FaultyDisk.Fault, isRestoring: Bool) throws {
        let disk = FaultyDisk()
        try withBackup(on: .embedded, disk) { files, directory, key, _ throws in
            let url = url(.complete, directory)
            let copy = directory.appendingPathComponent("copy")
            func perform() throws(DataProtectionError) {
                if isRestoring {
                    try files.restore(url, to: copy, with: key)
                } else {
                    try files.backUp(url, to: copy)
                }
            }
            func isWhole() throws -> Bool {
                isRestoring
                    ? try files.read(from: copy) == content(Self.length)
                    : try Data(contentsOf: copy) == Data(contentsOf: url)
            }
            disk.fail(at: nil)
            try perform()
            let stepCount = disk.calls.count
            let calls = disk.calls
            #expect(calls.lastIndex(of: "write")! < calls.firstIndex(of: "sync")!)
            for step in 0..<stepCount {
                try? FileManager.default.removeItem(at: copy)
                disk.fail(at: step, fault)
                let error = failure { () throws(DataProtectionError) in try perform() }
                disk.fail(at: nil)
                let isThere = FileManager.default.fileExists(atPath: copy.path)
                if error == nil { #expect(isThere, "step \(step)") }
                if isThere { #expect(try isWhole(), "step \(step)") }
                try files.removeLeftovers(in: directory)
                try perform()
                #expect(try isWhole(), "step \(step)")
            }
        }
    }
}

extension UUID {
    fileprivate var bytes: Data { withUnsafeBytes(of: uuid) { Data($0) } }
}
