internal import DataProtectionCore
internal import Glibc
internal import KeychainModel
internal import KeychainSystem

/// The work of a run of `file protect` or `file unprotect`, and the space that it takes on each disk.
struct ConversionPlan {
    /// A file system that has some of the files.
    struct Disk {
        /// The directory of one of the files.
        let directory: String
        fileprivate let blockSize: UInt64
        /// The bytes by which the files grow together. A single file may shrink.
        private(set) var growth: Int64 = 0
        /// The most bytes of files that are there a second time for a while: those of a batch, and a large one.
        var secondTime: UInt64 { min(all, largest.addingToLimit(ConversionBatch.mostBytes)) }
        private var largest: UInt64 = 0
        private var all: UInt64 = 0
        private(set) var fileCount = 0

        fileprivate init(of path: String) {
            directory = parentDirectory(of: path)
            blockSize = DiskSpace(at: directory)?.blockSize ?? 4096
        }

        /// - Parameter size: The size of the new file.
        fileprivate mutating func add(_ file: TreeWalk.FoundFile, size: UInt64) {
            fileCount += 1
            let blocks = (size + blockSize - 1) / blockSize * blockSize
            // A header may claim any size.
            growth = growth.addingToLimit(Int64(clamping: blocks) - Int64(clamping: file.allocated))
            largest = max(largest, blocks)
            all = all.addingToLimit(blocks)
        }

        /// The bytes that have to be free before the run starts.
        var needed: UInt64 { UInt64(max(0, growth)).addingToLimit(secondTime) }
        var free: UInt64? { DiskSpace(at: directory)?.free }
        var takesFiles: Bool { DiskSpace(at: directory)?.takesFiles ?? true }
        var hasSpace: Bool { free.map { $0 >= needed } ?? true }
    }

    private let direction: ConversionDirection
    private let files: ProtectedFiles
    private(set) var total = FileTotal()
    private var disks: [dev_t: Disk] = [:]

    init(_ direction: ConversionDirection, _ files: ProtectedFiles) {
        self.direction = direction
        self.files = files
    }

    /// Walks the tree, and reads no content.
    ///
    /// - Parameter isExact: Whether files that an earlier run has done are left out. A look at each file takes longer.
    init(_ walk: TreeWalk, _ direction: ConversionDirection, _ files: ProtectedFiles, isExact: Bool = false) {
        self.init(direction, files)
        walk.visit { finding in
            // The run refuses files with several names.
            guard case .file(let file) = finding, file.nameCount == 1 else { return }
            if !isExact || direction.isToDo(file, files) { add(file) }
        }
    }

    mutating func add(_ file: TreeWalk.FoundFile) {
        total.add(file)
        disks[file.number.device, default: Disk(of: file.path)].add(
            file, size: direction.sizeOfResult(for: file, files))
    }

    /// The disks in the order of their directories.
    var sortedDisks: [Disk] { disks.values.sorted { $0.directory < $1.directory } }

    /// - Throws: 222 if one of the disks has too little space.
    func requireSpace(for walk: TreeWalk) throws(FileFailure) {
        guard disks.values.contains(where: { !$0.hasSpace || !$0.takesFiles }) else { return }
        for disk in ConversionPlan(walk, direction, files, isExact: true).sortedDisks {
            guard disk.takesFiles else {
                throw FileFailure(
                    disk.directory, .diskFull, "the disk has no room for another file; nothing was changed")
            }
            guard !disk.hasSpace else { continue }
            throw FileFailure(
                disk.directory, .diskFull,
                "the disk has \(ByteCount.text(disk.free ?? 0)) free, and \(counted(disk.fileCount, "file")) take "
                    + "\(ByteCount.text(max(0, disk.growth))) more and up to \(ByteCount.text(disk.secondTime)) for a "
                    + "while; nothing was changed")
        }
    }
}

extension FixedWidthInteger {
    /// The sum, or the greatest number of the type.
    fileprivate func addingToLimit(_ other: Self) -> Self {
        let (sum, isTooLarge) = addingReportingOverflow(other)
        return isTooLarge ? .max : sum
    }
}
