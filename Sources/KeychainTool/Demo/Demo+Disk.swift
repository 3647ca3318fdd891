internal import Foundation
internal import KeychainClient
internal import KeychainModel

extension Demo {
    /// The view of a thief of the disk, while the program still runs.
    func showDisk() throws {
        try narrator.chapter("What lies on the disk")
        try asApp([Sample.group]) { app in
            // The engine is opened, so that the files it writes while it runs are looked at too.
            try readSecret(notes, expecting: Data(Sample.newPassword.utf8), as: app)
            let files = try PlaintextScanner.files(in: [store, deviceKey])
            for file in files { try narrator.remark(try Self.describe(file, within: directory)) }
            let found = try PlaintextScanner.hits(of: Sample.all, in: files)
            try narrator.fact(
                "Every byte of these is searched for the passwords, accounts, services, labels and groups.",
                found.isEmpty ? "none is there" : "found \(found.joined(separator: ", "))", isAsTold: found.isEmpty)
        }
        let controlWorks = try controlFindsAll()
        try narrator.fact(
            "Does the search work? It looks into a plain file that has them.",
            controlWorks ? "it finds every one" : "it misses some", isAsTold: controlWorks)
    }

    private func controlFindsAll() throws -> Bool {
        let control = directory.appendingPathComponent("control")
        try Data(("\u{0}padding" + Sample.all.joined(separator: "\u{0}") + "padding").utf8).write(to: control)
        let hits = try PlaintextScanner.hits(of: Sample.all, in: [control])
        try FileManager.default.removeItem(at: control)
        return hits.count == Sample.all.count
    }

    private static func describe(_ file: URL, within directory: URL) throws -> String {
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        let size = (attributes[.size] as? NSNumber)?.int64Value ?? 0
        let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0
        let name = String(file.path.dropFirst(directory.path.count + 1))
        let gap = String(repeating: " ", count: max(1, 24 - name.count))
        return "\(name)\(gap)mode \(String(mode, radix: 8))  \(ByteCount.text(size))"
    }

    // MARK: Another process

    func showAnotherProcess() throws {
        try narrator.chapter("Another process: 'keychainctl get generic --group \(Sample.group) --service … …'")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe")
        process.arguments = [
            "get", "generic", "--store", store.path, "--device-key", deviceKey.path, "--group", Sample.group,
            "--service", Sample.service, "--account", Sample.account,
        ]
        let output = Pipe()
        process.standardOutput = output
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let isSame = bytes == Data(Sample.newPassword.utf8)
        try narrator.fact(
            "It writes the password's bytes, the new ones.",
            "exit status \(process.terminationStatus), \(bytes.count) bytes, \(isSame ? "the same" : "other ones")",
            isAsTold: process.terminationStatus == 0 && isSame)
    }

    // MARK: Tampering

    private static let recoveryKey = Data((0..<64 << 10).map { UInt8(truncatingIfNeeded: $0 &* 37) })

    private var recovery: ItemQuery {
        var query = ItemQuery(.genericPassword)
        query.attributes = [.service: .text(Sample.service), .account: .text("recovery")]
        return query
    }

    /// An intruder edits the file while no program has it open.
    func showTampering() throws {
        try narrator.chapter("Someone edits the database")
        let place = try addRecoveryKey()
        try narrator.fact(
            "One bit of its stored secret is flipped, in byte \(place) of keychain.db, with every program closed.",
            "done", isAsTold: try flipBit(at: place))
        try asApp([Sample.group]) { app in
            try narrator.step("The secret is refused whole: no wrong byte is returned.", expecting: .itemNotFound) {
                () throws(KeychainError) in try readSecret(recovery, expecting: Self.recoveryKey, as: app)
            }
            try narrator.remark("Apple's keychain too leaves out what does not open; 'keychainctl get' says more.")
            try narrator.step("The other items are as they were.") { () throws(KeychainError) in
                try readSecret(notes, expecting: Data(Sample.newPassword.utf8), as: app)
            }
            let damage = try app.ask(.check).filter { $0.severity == .damage }
            try narrator.fact(
                "What 'keychainctl doctor' says:", "\(damage.count) damaged", isAsTold: damage.count == 1)
            for finding in damage { try narrator.remark("\"\(finding.text)\"") }
        }
    }

    /// - Returns: a place of the new item's sealed secret in the database.
    private func addRecoveryKey() throws -> UInt64 {
        let before = try databaseSize()
        try asApp([Sample.group]) { app in
            try narrator.step("\"notes\" stores a recovery key of 64 KiB.") { () throws(KeychainError) in
                var request = AddRequest(.genericPassword)
                request.attributes = recovery.attributes
                request.secret = SecretBytes(copying: Self.recoveryKey)
                _ = try app.ask(.add(request))
            }
        }
        // A value of that size fills pages of its own, and the file grows by them. So the middle of the growth is in
        // the sealed secret, and 2 KiB into its page there is nothing of SQLite's own.
        let middle = (before + (try databaseSize() - before) / 2) / 4096 * 4096 + 2048
        return UInt64(middle)
    }

    private var database: URL { store.appendingPathComponent("keychain.db") }

    private func databaseSize() throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: database.path)
        return (attributes[.size] as? NSNumber)?.intValue ?? 0
    }

    /// Whether the database itself has everything, and the log beside it nothing.
    private var isLogEmpty: Bool {
        FileManager.default.contents(atPath: database.path + "-wal")?.isEmpty ?? true
    }

    /// - Returns: false, with nothing changed, if the database is not closed or not as large as that.
    private func flipBit(at place: UInt64) throws -> Bool {
        guard isLogEmpty, place < UInt64(try databaseSize()) else { return false }
        let file = try FileHandle(forUpdating: database)
        defer { try? file.close() }  // a failed write has thrown already
        try file.seek(toOffset: place)
        guard let byte = try file.read(upToCount: 1)?.first else { return false }
        try file.seek(toOffset: place)
        try file.write(contentsOf: Data([byte ^ 0x01]))
        return true
    }
}
