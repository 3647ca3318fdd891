internal import DataProtection
internal import Foundation
internal import Glibc
internal import KeychainCrypto

/// One look at all processes for those that have protected files open.
struct HolderSearch {
    private struct FileNumber: Hashable {
        let device: dev_t
        let number: ino_t

        init(_ status: stat) {
            device = status.st_dev
            number = status.st_ino
        }
    }

    /// What an open file is.
    private enum Kind {
        case plain
        /// nil: a class that its header does not tell.
        case protected(FileProtection?)
    }

    private(set) var holders: [FileHolder] = []
    /// Those whose descriptors this user may not see.
    private(set) var hiddenCount = 0
    private let files: ProtectedFiles
    private let storeFiles: StoreFiles
    private var kinds: [FileNumber: Kind] = [:]

    init(_ files: ProtectedFiles, _ storeFiles: StoreFiles) {
        self.files = files
        self.storeFiles = storeFiles
        for file in Self.ownFiles { kinds[file] = .plain }
        for process in ProcessDirectory.all { look(into: process) }
    }

    /// What this process has open itself and is not protected: to open and close a database once more would give up
    /// SQLite's locks on it (fcntl(2)).
    private static var ownFiles: [FileNumber] {
        let numbers = (try? ProcessDirectory(process: getpid()).descriptors.get()) ?? []
        return numbers.compactMap { number in
            var status = stat()
            guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG, !isProtected(number) else {
                return nil
            }
            return FileNumber(status)
        }
    }

    private static func isProtected(_ descriptor: Int32) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: FileFormat.headerByteCount, alignment: 1) { page in
            let count = pread(descriptor, page.baseAddress!, page.count, 0)
            return count > 0 && FileFormat.isProtected(UnsafeRawBufferPointer(rebasing: page[..<count]))
        }
    }

    private mutating func look(into process: ProcessDirectory) {
        let descriptors: [Int32]
        switch process.descriptors {
        case .success(let numbers): descriptors = numbers
        case .failure(let failure):
            // It may have ended meanwhile.
            if [EACCES, EPERM].contains(failure.value) { hiddenCount += 1 }
            return
        }
        var found: [FileNumber: FileHolder] = [:]
        for descriptor in descriptors {
            var status = stat()
            let link = process.link(descriptor)
            guard stat(link, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0,
                let path = ProcessDirectory.target(link), case .protected(let protection) = kind(link, path, status),
                let access = process.access(descriptor)
            else { continue }
            let file = FileNumber(status)
            found[file, default: holder(process, protection, path)].access.formUnion(access)
        }
        holders += found.values.sorted { $0.path < $1.path }
    }

    private func holder(_ process: ProcessDirectory, _ protection: FileProtection?, _ path: String) -> FileHolder {
        FileHolder(
            process: process.process, program: process.program, user: process.user, protection: protection, path: path,
            access: [])
    }

    private mutating func kind(_ link: String, _ path: String, _ status: stat) -> Kind {
        let file = FileNumber(status)
        if let kind = kinds[file] { return kind }
        let kind = kind(link, path)
        kinds[file] = kind
        return kind
    }

    private func kind(_ link: String, _ path: String) -> Kind {
        if storeFiles.belong(in: (path as NSString).deletingLastPathComponent) { return .plain }
        do throws(DataProtectionError) {
            return try files.protection(of: URL(fileURLWithPath: link)).map { .protected($0) } ?? .plain
        } catch {
            switch error.code {
            // What may not be read is not known to be protected.
            case .system, .unsupportedFile, .notProtected: return .plain
            default: return .protected(nil)
            }
        }
    }

    // MARK: Words

    var text: String {
        let list = holders.isEmpty ? "no program has a protected file open\n" : table
        return hiddenCount == 0
            ? list
            : list + "\(counted(hiddenCount, "process", "processes")) of others could not be "
                + "looked into\n"
    }

    private var table: String {
        let rows = [FileHolder.headings] + holders.map(\.cells)
        let widths = FileHolder.headings.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = zip(row.dropLast(), widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
            return (cells + [row.last ?? ""]).joined(separator: "  ") + "\n"
        }.joined()
    }

    var json: JSONValue {
        .object([
            ("files", .array(holders.map(\.json))), ("notLookedInto", .number(Int64(hiddenCount))),
        ])
    }
}
