// Uses everything public of the module DataProtection once, on the keychain that the environment names and in the current
// directory.

import DataProtection
import Foundation
import Report
import SwiftKeychain

let text = Data("It rained the whole day.\n".utf8)

await report {
    let files = ProtectedFiles()
    names()
    try wholeFiles(files)
    try classes(ProtectedFiles(KeychainConfiguration()))
    try handles(files)
    try await handlesOfTasks(files)
    try checks(files)
    try backups(files)
    try errors(files)
    try FoundationCalls.check()
    try await availability(files)
}

func url(_ name: String) -> URL { URL(filePath: name) }

func names() {
    let classes: [FileProtection] = [
        .complete, .completeUnlessOpen, .completeWhenUserInactive, .completeUntilFirstUserAuthentication, .always,
    ]
    tell("There are five classes", FileProtection.allCases == classes)
    tell("A class has a name", FileProtection(rawValue: FileProtection.complete.rawValue) == .complete)
    let writing: [ProtectedFiles.WriteOptions] = [.withoutOverwriting, .withoutWaitingForDisk]
    tell("Options for writing are bits", ProtectedFiles.WriteOptions(writing).rawValue == 3)
    tell("And made of them", ProtectedFiles.WriteOptions(rawValue: 1) == .withoutOverwriting)
    let opening: [ProtectedFiles.OpenOptions] = [.create, .exclusive, .truncate, .append]
    tell("Options for opening are bits", ProtectedFiles.OpenOptions(opening).rawValue == 15)
    tell("And made of them", ProtectedFiles.OpenOptions(rawValue: 1) == .create)
    tell("A file is opened for one of two", ProtectedFiles.Access.allCases == [.reading, .writing])
}

func wholeFiles(_ files: ProtectedFiles) throws {
    try files.write(text, to: url("whole"), protection: .complete, options: .withoutWaitingForDisk)
    try tell("A file is read", try files.read(from: url("whole")) == text)
    try tell("Its bytes on the disk are others", try Data(contentsOf: url("whole")).range(of: text) == nil)

    var rest = text
    var progress: [ProtectedFiles.Progress] = []
    try files.write(to: url("parts"), options: .withoutOverwriting, progress: { progress.append($0) }) { buffer in
        defer { rest = Data() }
        return rest.copyBytes(to: buffer)
    }
    tell("Writing in parts tells how far it is", progress.last?.completed == UInt64(text.count))
    var content = Data()
    try files.read(from: url("parts"), progress: { progress.append($0) }) { content.append(contentsOf: $0) }
    tell("A file is read in parts", content == text)
    tell("Reading in parts tells how much there is", progress.last?.total == UInt64(text.count))
}

func classes(_ files: ProtectedFiles) throws {
    try text.write(to: url("plain"))
    try tell("A plain file has no class", try files.protection(of: url("plain")) == nil)
    try tell("It is protected", try files.protect(url("plain"), as: .completeUnlessOpen))
    try tell("It is", try files.isProtected(url("plain")))
    try files.setProtection(.complete, of: url("plain"))
    let info: ProtectedFileInfo = try files.info(of: url("plain"))
    tell("It has another class", info.protection == .complete)
    tell("It has a length", info.length == UInt64(text.count) && info.storedSize > info.length)
    tell("It has an identifier and a keychain", info.identifier != info.keychain)
    tell("It has a key that opens", info.refusal == nil && info.keyGeneration >= 1)
    tell("It has chunks", info.chunkSize >= 4096 && info.hasBothHeaders)
    try tell("It is unprotected", try files.unprotect(url("plain")))
    try tell("And reads as it was", try Data(contentsOf: url("plain")) == text)
    try FileManager.default.createDirectory(at: url("directory"), withIntermediateDirectories: false)
    try files.setProtection(.complete, of: url("directory"))
    try tell("A directory has a class for new files", try files.protection(of: url("directory")) == .complete)
    try files.removeProtection(ofDirectory: url("directory"))
    try tell("Until it is removed", try files.protection(of: url("directory")) == nil)
    try tell("No program has left anything", try files.removeLeftovers(in: url("directory")) == 0)
}

func handles(_ files: ProtectedFiles) throws {
    let handle: ProtectedFileHandle = try files.open(
        url("log"), for: .writing, options: [.create, .exclusive], protection: .complete)
    tell("A handle knows its path", handle.path.hasSuffix("log"))
    try tell("It knows its class", try handle.protection == .complete)
    try handle.setProtection(.completeUnlessOpen)
    try tell("It changes the class", try handle.protection == .completeUnlessOpen)

    try handle.write(text, at: 0)
    try text.withUnsafeBytes { try handle.write($0, at: 4096) }
    try tell("It adds to the end", try handle.append(text) == UInt64(4096 + text.count))
    try tell("It reads a part", try handle.read(at: 4096, count: text.count) == text)
    var buffer = [UInt8](repeating: 1, count: 16)
    let count = try buffer.withUnsafeMutableBytes { try handle.read(at: 1024, into: $0) }
    tell("What was never written are zeros", count == 16 && buffer == [UInt8](repeating: 0, count: 16))
    try handle.punch(0..<UInt64(text.count))
    try tell("What is punched out too", try handle.read(at: 0, count: 1) == Data([0]))
    try handle.truncate(to: UInt64(text.count))
    try tell("It is cut short", try handle.length == UInt64(text.count))
    try handle.sync()

    handle.seek(toOffset: 0)
    try handle.write(contentsOf: text)
    tell("It counts what it writes", handle.offset() == UInt64(text.count))
    handle.seek(toOffset: 3)
    try tell("It reads on", try handle.read(upToCount: 6) == Data("rained".utf8))
    try tell("To the end", try handle.readToEnd() == text.dropFirst(9))
    try tell("Which is where it ends", try handle.seekToEnd() == UInt64(text.count))
    try handle.truncate(atOffset: 9)
    tell("It goes where it cuts", handle.offset() == 9)
    try handle.synchronize()
    try handle.close()
    let other = try files.open(url("log"), for: .writing, options: [.truncate, .append])
    try tell("A file is opened without its content", try other.length == 0)
    other.closeWithoutWaiting()
}

/// The calls that do not block the thread of a task.
func handlesOfTasks(_ files: ProtectedFiles) async throws {
    let handle = try files.open(url("tasks"), for: .writing, options: .create)
    try await handle.write(text, at: 0)
    let end = try await handle.append(text)
    tell("A task adds to the end", end == UInt64(text.count))
    try await handle.truncate(to: end)
    let content = try await handle.read(at: 0, count: .max)
    tell("A task reads", content == text)
    var bytes: [UInt8] = []
    for try await byte in handle.bytes(from: 3) { bytes.append(byte) }
    tell("A task reads byte for byte", Data(bytes) == text.dropFirst(3))
    var iterator: ProtectedFileBytes.Iterator = handle.bytes().makeAsyncIterator()
    let first: ProtectedFileBytes.Element? = try await iterator.next()
    let second = try await iterator.next(isolation: nil)
    tell("One after the other", [first, second] == [text[0], text[1]])
    tell("A sequence of bytes fails as a handle does", ProtectedFileBytes.Failure.self == DataProtectionError.self)
    try await handle.sync()
    try await handle.close()
}

func checks(_ files: ProtectedFiles) throws {
    let intact = try files.check(url("whole"))
    tell("A file is intact", intact.isIntact && intact.findings.isEmpty && intact.lost.isEmpty)
    tell("A check tells its class", intact.protection == .complete)
    tell("It tells its length", intact.length == UInt64(text.count) && intact.readable == UInt64(text.count))
    tell("It has nothing to mend", !intact.canRepairHeader)
    try tell("So nothing is", try !files.repairHeader(of: url("whole")))

    // The last byte is of the content.
    var bytes = try Data(contentsOf: url("whole"))
    bytes[bytes.count - 1] ^= 1
    try bytes.write(to: url("damaged"))
    let check = try files.salvage(url("damaged"), to: url("salvaged"))
    tell("A damaged file is not intact", !check.isIntact)
    guard let finding: ProtectedFileCheck.Finding = check.findings.first else { stop("a damage has no finding") }
    tell("A finding says what is damaged: \(finding.text)", finding.isDamage && finding.losesContent)
    tell("It says where", finding.content == 0..<UInt64(text.count) && check.lost == [0..<UInt64(text.count)])
    tell("Nothing is left to be salvaged", !check.isSalvaged)
    let kinds: [ProtectedFileCheck.Finding.Kind] = [
        .noHeader, .contradictingHeaders, .newestHeader, .headerCopy, .cutShort, .extraBytes, .node, .chunk, .entry,
        .nodeForm, .place, .beyondLength, .pageCount, .interrupted, .classChange, .formerState,
    ]
    tell("Findings are of sixteen kinds", ProtectedFileCheck.Finding.Kind.allCases == kinds)
    tell("This one is one of them", ProtectedFileCheck.Finding.Kind(rawValue: finding.kind.rawValue) == finding.kind)
}

/// The backup key is the worked example of docs/backup-format.md, since only the command makes such keys.
func backups(_ files: ProtectedFiles) throws {
    struct Example: Decodable {
        var file: String
        var passphrase: String
        var storeID: String
    }
    let example = URL(filePath: #filePath).appending(path: "../../../../Vectors/backup-example.json").standardized
    let values = try JSONDecoder().decode(Example.self, from: Data(contentsOf: example))
    let digits = Array(values.file.utf8)
    let bytes = stride(from: 0, to: digits.count, by: 2).compactMap {
        UInt8(String(decoding: digits[$0...($0 + 1)], as: UTF8.self), radix: 16)
    }
    try Data(bytes).write(to: url("backup-key"))
    let key = try FileBackupKey(contentsOf: url("backup-key"), passphrase: Data(values.passphrase.utf8))
    let keychain = key.keychain.uuidString.replacing("-", with: "").lowercased()
    tell("A backup key knows its keychain", keychain == values.storeID)
    try tell("A file is backed up", try files.backUp(url("whole"), to: url("copy")))
    try tell("Once", try !files.backUp(url("whole"), to: url("copy")))
    try tell("What belongs here is not restored", try !files.restore(url("copy"), with: key))
    try tell("But copied", try files.restore(url("copy"), to: url("restored"), with: key))
    try tell("And reads as before", try files.read(from: url("restored")) == text)
}

func errors(_ files: ProtectedFiles) throws {
    let codes: [DataProtectionError.Code] = [
        .locked, .wrongKey, .wrongPassphrase, .tampered, .truncated, .keysUnavailable, .notProtected, .newerFormat,
        .invalidOption, .unsupportedFile, .changedMeanwhile, .keychain, .system,
    ]
    tell("Errors are of thirteen codes", DataProtectionError.Code.allCases == codes)
    tell("A code has a name", DataProtectionError.Code(rawValue: "locked") == .locked)
    let names: [DataProtectionError.Code] = [
        DataProtectionError.locked, DataProtectionError.wrongKey, DataProtectionError.wrongPassphrase,
        DataProtectionError.tampered, DataProtectionError.truncated, DataProtectionError.keysUnavailable,
        DataProtectionError.notProtected, DataProtectionError.newerFormat, DataProtectionError.invalidOption,
        DataProtectionError.unsupportedFile, DataProtectionError.changedMeanwhile, DataProtectionError.keychain,
        DataProtectionError.system,
    ]
    tell("Every code is a pattern", names == codes)
    do {
        try Data().write(to: url("beside"))
        _ = try files.read(from: url("nothing"))
        stop("a file is read that is not there")
    } catch DataProtectionError.locked {
        stop("a code matches another one")
    } catch DataProtectionError.system {
        tell("A code is caught beside other errors", true)
    }
    do {
        _ = try files.read(from: url("nothing"))
        stop("a file is read that is not there")
    } catch {
        tell("A file that is not there is the system's error", error.code == .system && error.errno == ENOENT)
        tell("It is not the keychain's", error.status == nil)
        tell("It names the file", error.path.hasSuffix("nothing"))
        tell("It says what is wrong: \(error.message)", !error.message.isEmpty)
        tell("And both together", error.description == "\(error.path): \(error.message)")
        tell("To people too", error.errorDescription == error.description)
        tell("Foundation has a name for it", error.cocoaError(.reading).code == .fileReadNoSuchFile)
        tell("And another for writing", error.cocoaError(DataProtectionError.Operation.writing).code == .fileNoSuchFile)
    }
}

func availability(_ files: ProtectedFiles) async throws {
    tell("Without a passcode all files open", files.isProtectedDataAvailable)
    let changes = ProtectedDataChange.allCases
    tell("There are three changes", changes == [.willBecomeUnavailable, .didBecomeUnavailable, .didBecomeAvailable])
    let names = [
        ProtectedFiles.protectedDataWillBecomeUnavailable, ProtectedFiles.protectedDataDidBecomeUnavailable,
        ProtectedFiles.protectedDataDidBecomeAvailable,
    ]
    tell("Each has a notification", Set(names).count == 3)

    let lock = KeychainLock()
    let passcode = Data("correct horse battery staple".utf8)
    try lock.setPasscode(passcode)
    let stream: ProtectedDataChanges = files.protectedDataChanges
    var iterator: ProtectedDataChanges.Iterator = stream.makeAsyncIterator()
    let center = NotificationCenter()
    let (posted, continuation) = AsyncStream<Notification.Name>.makeStream()
    let observers = names.map { name in
        center.addObserver(forName: name, object: nil, queue: nil) { _ in continuation.yield(name) }
    }
    let task = files.postAvailability(to: center)
    try lock.lock(immediately: true)
    let locked: ProtectedDataChanges.Element? = await iterator.next()
    tell("The lock is told", locked == .didBecomeUnavailable)
    tell("A sequence of changes does not fail", ProtectedDataChanges.Failure.self == Never.self)
    try lock.unlock(passcode: passcode)
    let unlocked = await iterator.next(isolation: nil)
    tell("The unlock is told", unlocked == .didBecomeAvailable)
    var notifications = posted.makeAsyncIterator()
    let first = await notifications.next()
    tell("And posted", first == ProtectedFiles.protectedDataDidBecomeUnavailable)
    task.cancel()
    for observer in observers { center.removeObserver(observer) }
    try lock.removePasscode(passcode)
}
