internal import DataProtection
internal import Glibc
internal import KeychainModel

/// What a run of `file protect` or `file unprotect` is going to do, and what that takes of each disk.
struct ConversionPlan {
    /// One of the file systems that the files are on.
    struct Disk {
        /// Of one of the files.
        let directory: String
        fileprivate let blockSize: UInt64
        /// How much more all files take when they are done. Some may take less.
        private(set) var growth: Int64 = 0
        /// What the files take at most that are there a second time for a while: those of a batch, and a large one.
        var secondTime: UInt64 { min(all, largest + ConversionBatch.mostBytes) }
        private var largest: UInt64 = 0
        private var all: UInt64 = 0
        private(set) var fileCount = 0

        fileprivate init(of path: String) {
            directory = parentDirectory(of: path)
            blockSize = DiskSpace.blockSize(at: directory)
        }

        fileprivate mutating func add(_ file: TreeWalk.FoundFile, _ isProtecting: Bool) {
            fileCount += 1
            let size = isProtecting ? ProtectedFiles.storedSize(ofContent: file.size) : file.size
            let blocks = (size + blockSize - 1) / blockSize * blockSize
            growth += Int64(clamping: blocks) - Int64(clamping: file.allocated)
            largest = max(largest, blocks)
            all += blocks
        }

        /// What has to be free before it starts.
        var needed: UInt64 { UInt64(max(0, growth)) + secondTime }
        var free: UInt64? { DiskSpace.free(at: directory) }
        var hasSpace: Bool { free.map { $0 >= needed } ?? true }
    }

    private let isProtecting: Bool
    private(set) var total = FileTotal()
    private(set) var disks: [dev_t: Disk] = [:]

    init(_ direction: ConversionDirection) { isProtecting = direction.isProtecting }

    /// Walks the tree and looks at no content.
    ///
    /// - Parameter isToDo: Asked of each file. nil: all are.
    init(_ walk: TreeWalk, _ direction: ConversionDirection, isToDo: ((String) -> Bool)? = nil) {
        self.init(direction)
        walk.visit { finding in
            // Those with several names are refused.
            guard case .file(let path, let file) = finding, file.nameCount == 1 else { return }
            if isToDo?(path) ?? true { add(path, file) }
        }
    }

    mutating func add(_ path: String, _ file: TreeWalk.FoundFile) {
        total.add(file)
        disks[file.device, default: Disk(of: path)].add(file, isProtecting)
    }

    /// - Parameter exact: The same, without what is done already.
    /// - Throws: 222 if one of the disks cannot hold what is to be done.
    func requireSpace(_ exact: () -> ConversionPlan) throws(FileFailure) {
        guard disks.values.contains(where: { !$0.hasSpace || !DiskSpace.takesFiles(at: $0.directory) }) else { return }
        for disk in exact().disks.values.sorted(by: { $0.directory < $1.directory }) {
            guard DiskSpace.takesFiles(at: disk.directory) else {
                throw FileFailure(
                    disk.directory, .diskFull, "the disk has no room for another file; nothing was changed")
            }
            guard !disk.hasSpace else { continue }
            throw FileFailure(
                disk.directory, .diskFull,
                "the disk has \(Self.text(disk.free ?? 0)) free, and \(counted(disk.fileCount, "file")) take "
                    + "\(Self.text(UInt64(max(0, disk.growth)))) more and up to \(Self.text(disk.secondTime)) for a "
                    + "while; nothing was changed")
        }
    }

    static func text(_ count: UInt64) -> String { ByteCount.text(Int64(clamping: count)) }
}
