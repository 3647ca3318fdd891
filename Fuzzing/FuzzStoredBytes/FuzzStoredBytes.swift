import CFuzzer
import Foundation
import KeychainManifests
import KeychainModel
import KeychainSystem
import KeychainWire

@testable import KeychainClient
@testable import KeychainCrypto
@testable import KeychainTransfer
@testable import SwiftKeychain

/// Every decoder of bytes that lie on a disk or in a program's image. The first byte chooses one, the rest is its
/// input. A decoder may refuse; it may not trap, and what it accepts must come back the same when written anew.
@main
struct FuzzStoredBytes {
    static func main() {
        var count = CommandLine.argc
        var arguments = CommandLine.unsafeArgv
        exit(LLVMFuzzerRunDriver(&count, &arguments) { fuzzStoredBytes($0, $1) })
    }
}

/// Under this name too, because libFuzzer's own `main` is linked and looks for it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzStoredBytes(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 0 else { return 0 }
    let input = Data(bytes: start + 1, count: count - 1)
    switch start[0] % 15 {
    case 0: fuzzMetadata(input)
    case 1: fuzzKeybag(input)
    case 2: fuzzAccessControl(input)
    case 3: fuzzPadding(input)
    case 4: fuzzRow(input)
    case 5: fuzzEntitlements(input)
    case 6: fuzzPersistentReference(input)
    case 7: fuzzAttempts(input)
    case 8: fuzzKeySet(input)
    case 9: fuzzExportContent(input)
    case 10: fuzzExportHeader(input)
    case 11: fuzzFileHeader(input)
    case 12: fuzzBackupKeyRecords(input)
    case 13: fuzzBackupKeyHeader(input)
    default: fuzzManifest(input)
    }
    return 0
}

private let deviceKey = try! KeyMaterial { for place in $0.indices { $0[place] = 7 } }

private func fuzzMetadata(_ input: Data) {
    func decode(_ bytes: Data) throws -> (item: Item, secretTag: Data?) {
        try bytes.withUnsafeBytes { bytes in
            try Item.decode(metadata: bytes, of: .genericPassword, UUID(), AccessControl(.always))
        }
    }
    guard let (item, secretTag) = try? decode(input) else { return }
    let again = try! decode(Data(item.encodedMetadata(secretTag: secretTag)))
    precondition(again.item.accessGroup == item.accessGroup && again.secretTag == secretTag)
    precondition(again.item.attributes.count == item.attributes.count)
}

/// With a valid tag, or nothing behind the check of the tag would ever be reached.
private func fuzzKeybag(_ input: Data) {
    guard input.count >= 26 else { return }
    let storeID = UUID(uuid: input[10..<26].withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
    let tagged = input + Keybag.tag(of: input, storeID: storeID, deviceKey: deviceKey)
    guard let keybag = try? Keybag(decoding: tagged, deviceKey: deviceKey) else { return }
    precondition(keybag.encoded(deviceKey: deviceKey) == tagged)
    _ = try? keybag.unwrap(deviceKey: deviceKey)
}

private func fuzzAccessControl(_ input: Data) {
    guard let decoded = try? AccessControl(canonicalBytes: input) else { return }
    precondition(decoded.canonicalBytes == Array(input))
}

private func fuzzPadding(_ input: Data) {
    input.withUnsafeBytes { bytes in
        guard let content = try? PaddedBytes.content(of: bytes) else { return }
        precondition(content.count <= bytes.count - 4)
    }
}

private func fuzzRow(_ input: Data) {
    let binding = RowBinding(
        storeID: UUID(), rowID: UUID(), itemClass: .genericPassword, accessControl: AccessControl(.always), version: 1)
    let opened = try? deviceKey.withUnsafeBytes { classKey throws(KeychainError) in
        try RowSealer.with(classKey: classKey, binding) { sealer throws(KeychainError) in
            try SecretBytes(copying: input).withUnsafeBytes { bytes throws(KeychainError) in
                try sealer.openSecret(
                    wrappedKey: UnsafeRawBufferPointer(rebasing: bytes.prefix(40)),
                    box: UnsafeRawBufferPointer(rebasing: bytes.dropFirst(40)))
            }
        }
    }
    precondition(opened == nil, "bytes that nobody sealed were opened")
}

/// With a valid tag, as the keybag.
private func fuzzAttempts(_ input: Data) {
    guard input.count >= 24 else { return }
    let storeID = UUID(uuid: input[8..<24].withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
    let tagged = input + deviceKey.tag(of: input, "attempts 1", KeyContext(storeID))
    guard let record = AttemptRecord(decoding: tagged, storeID: storeID, deviceKey: deviceKey) else { return }
    let again = AttemptRecord(
        decoding: record.encoded(storeID: storeID, deviceKey: deviceKey), storeID: storeID, deviceKey: deviceKey)
    precondition(again == record)
}

/// What any program of the user may put into the kernel's keyring.
private func fuzzKeySet(_ input: Data) {
    let opened = try? input.withUnsafeBytes { try KeySet(opening: $0, under: deviceKey, context: KeyContext(UUID())) }
    precondition(opened == nil, "bytes that nobody sealed were opened")
}

private let exportKey = try! ExportKey(new: SecretBytes(copying: Data("fuzz".utf8)), cost: 1)

/// Sealed by somebody who knows the passphrase, or no entry would ever be reached. What is taken for an item is the
/// same after a second export.
private func fuzzExportContent(_ input: Data) {
    guard !input.isEmpty, input.count <= ExportChunk.byteCount else { return }
    let chunk = ExportChunk(exportKey.chunkKey)
    chunk.content.copyBytes(from: input)
    try! chunk.seal(input.count, isLast: true)
    for item in items(of: Data(chunk.sealed(input.count))) {
        _ = item.flaw
        var again = Data()
        let writer = try! ExportWriter(exportKey) { again.append(contentsOf: $0) }
        try! writer.append(item)
        try! writer.finish(leftOut: LeftOut())
        let copies = items(of: again.dropFirst(ExportKey.headerByteCount))
        precondition(copies.count == 1, "an item was lost")
        precondition(try! ExportedItem.digest(of: copies[0]) == ExportedItem.digest(of: item), "an item was changed")
    }
}

/// As far as they can be read.
private func items(of chunks: Data) -> [Item] {
    var rest = chunks
    var items: [Item] = []
    do {
        let reader = try ExportReader(exportKey, byteCount: chunks.count) { target in
            target.copyBytes(from: rest.prefix(target.count))
            rest = rest.dropFirst(target.count)
        }
        while let record = try reader.next() {
            if case .item(let item) = record { items.append(item) }
        }
    } catch {
        return items
    }
    return items
}

/// With parameters that a guess costs little with: what they are allowed to be would take a second each.
private func fuzzExportHeader(_ input: Data) {
    var header = input
    if header.count > 18 { header.replaceSubrange(10..<19, with: [1, 0, 0, 0, 1, 0, 0, 0, 1]) }
    let passphrase = SecretBytes(copying: Data("fuzz".utf8))
    precondition((try? ExportKey(opening: header, passphrase: passphrase)) == nil, "a commitment was guessed")
}

private let backupPassphrase = SecretBytes(copying: Data("fuzz".utf8))
private let backupSeal = try! FileKeyBackupSeal(passphrase: backupPassphrase, cost: 1)

/// Sealed by somebody who knows the passphrase, or no record would ever be reached. What is taken has a key for each of
/// its names, and they come back in the same order.
private func fuzzBackupKeyRecords(_ input: Data) {
    guard !input.isEmpty else { return }
    let file = try! FileKeyBackup.sealed(
        SecretBytes(copying: input), storeID: UUID(), header: backupSeal.header, key: backupSeal.key,
        randomness: SystemRandomness())
    let backup = try? FileKeyBackup(opening: file, passphrase: backupPassphrase)
    let records = input.withUnsafeBytes { FileClassKeyRecords($0) }
    precondition((backup == nil) == (records == nil))
    guard let backup, let records else { return }
    for name in records.names {
        input.withUnsafeBytes { precondition(records.key(name, in: $0)?.count == 32) }
        let wrapped = WrappedFileKey(
            fileID: UUID(), storeID: backup.storeID, fileClass: name.fileClass, generation: name.generation,
            publicKey: Data(count: name.fileClass == .completeUnlessOpen ? 32 : 0), wrappedKey: Data(count: 40))
        precondition((try? backup.unwrap(wrapped)) == nil, "a key was opened that nobody wrapped")
    }
    let bytes = records.names.flatMap { name in
        [name.fileClass.rawValue] + withUnsafeBytes(of: name.generation.bigEndian, Array.init)
            + input.withUnsafeBytes { Array(records.key(name, in: $0)!) }
    }
    precondition(Data(bytes) == input)
}

/// As ``fuzzExportHeader(_:)``.
private func fuzzBackupKeyHeader(_ input: Data) {
    var file = input
    if file.count > 18 { file.replaceSubrange(10..<19, with: [1, 0, 0, 0, 1, 0, 0, 0, 1]) }
    _ = FileKeyBackup.storeID(of: file)
    precondition((try? FileKeyBackup(opening: file, passphrase: backupPassphrase)) == nil, "a commitment was guessed")
}

/// A protected file's header: as it comes, and with a valid tag and checksum, or nothing behind them would be reached.
private func fuzzFileHeader(_ input: Data) {
    _ = try? FileHeader.newest(in: input)
    _ = FileHeader.intactCopies(in: input)
    var page = Data(count: FileFormat.headerByteCount)
    for (number, offset) in FileFormat.slotOffsets.enumerated() {
        let slot = fileHeaderSlot(input, UInt8(number))
        page.replaceSubrange(offset..<(offset + slot.count), with: slot)
    }
    guard let header = try? FileHeader.newest(in: page).verified(fileKey: deviceKey) else { return }
    precondition(header.encoded(fileKey: deviceKey, slot: 0) == page.prefix(512))
    precondition(FileHeader.intactCopies(in: page) == [true, true])
    let tree = header.tree
    precondition(tree.depth <= 10)
    guard let root = header.root else { return }
    for level in 0...tree.depth {
        for index in [0, 1, tree.count(atLevel: level), .max] {
            try? tree.check(
                root, level: level, index: index, storedSize: header.storedSize, writeCount: header.writeCount)
        }
    }
}

private func fileHeaderSlot(_ input: Data, _ number: UInt8) -> Data {
    var slot = Data(FileFormat.magic) + [0, 1] + input.prefix(454)
    slot += Data(count: 464 - slot.count)
    slot[15] = number
    let fileID = UUID(uuid: slot[16..<32].withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
    slot += deviceKey.tag(of: slot, "file header 1", KeyContext(fileID))
    var digest = Data(count: 32)
    digest.withUnsafeMutableBytes { digest in slot.withUnsafeBytes { SHA256State.hash($0, into: digest) } }
    return slot + digest.prefix(16)
}

private func fuzzEntitlements(_ input: Data) {
    for record in (try? EmbeddedEntitlements.records(in: input)) ?? [] {
        _ = try? Entitlements(propertyList: record.propertyList, from: "fuzz")
    }
}

private func fuzzManifest(_ input: Data) {
    let accounts = Accounts(user: { _ in 1 }, group: { _ in 1 }, members: { _ in [] })
    do throws(ManifestFlaw) {
        let manifest = try EntitlementManifest(Array(input), path: "/fuzz", accounts: accounts)
        precondition(
            !manifest.groups.isEmpty && !manifest.groups.contains("") && !manifest.groups.contains("unconfined"))
    } catch {
        precondition(!error.text.isEmpty)
    }
}

private func fuzzPersistentReference(_ input: Data) {
    guard let reference = try? PersistentReference(data: input) else { return }
    precondition(reference.data == input)
}
