internal import FoundationEssentials
internal import Glibc
internal import KeychainCrypto
internal import KeychainModel

/// Opens everything that one header of a file refers to, and notes the parts that do not open.
///
/// Below a node that does not open, all is lost: only that node says where its children lie and has their nonces and
/// tags.
final class SealedFileCheck {
    let header: FileHeader
    private let part: SealedFilePart
    private let tree: FileTree

    private(set) var flaws = FlawList()
    private var claims = PageClaims()
    /// The number of pages of the parts that have opened.
    var usedPages: UInt64 { claims.count }
    /// The highest write count among the entries whose chunk or node does not open. It is 0 if all open.
    private(set) var newestLost: UInt64 = 0

    /// A function that is called now and then with the number of content bytes that are done.
    typealias Pause = (UInt64) throws(DataProtectionError) -> Void

    /// Checks a file.
    ///
    /// - Parameters:
    ///   - file: The file, open for reading.
    ///   - size: The size that the file really has.
    ///   - header: A header that was verified with the file key.
    ///   - sink: The receiver of the content. Without one the check uses all processors.
    static func run(
        _ file: Int32, _ path: String, size: UInt64, header: FileHeader, fileKey: KeyMaterial, _ sink: ContentSink?,
        pause: Pause
    ) throws(DataProtectionError) -> SealedFileCheck {
        let check = SealedFileCheck(
            header, SealedFilePart(file, path, size: size, header: header, fileKey: fileKey))
        if header.length > 0 {
            try check.visit(header.root, NodePlace(level: check.tree.depth, index: 0), sink, pause)
        }
        return check
    }

    private init(_ header: FileHeader, _ part: SealedFilePart) {
        self.header = header
        self.part = part
        tree = header.tree
    }

    /// The number of content bytes that can be read.
    var readable: UInt64 { header.length - flaws.lostByteCount }

    // MARK: Down the tree

    private func visit(
        _ entry: FileEntry?, _ place: NodePlace, _ sink: ContentSink?, _ pause: Pause
    ) throws(DataProtectionError) {
        let content = tree.content(below: place)
        if place.level <= 1 {
            let buffer = part.makeBuffer()
            merge(try part.check(entry, place, in: buffer, sink))
        } else if let entry {
            try descend(entry, place, sink, pause)
        } else {
            try Self.give(zeros: content, to: sink, pause)
        }
        try pause(content.upperBound)
    }

    private func descend(
        _ entry: FileEntry, _ place: NodePlace, _ sink: ContentSink?, _ pause: Pause
    ) throws(DataProtectionError) {
        var found = CheckedPart()
        let node = try part.openNode(entry, place, in: part.makeBuffer(), &found)
        merge(found)
        guard let node else {
            try Self.give(zeros: tree.content(below: place), to: sink, pause)
            return
        }
        let children = tree.children(of: place)
        if place.level == 2 && sink == nil {
            try checkGroups(children.map { ($0, node[$0]) }, pause)
        } else {
            for child in children { try visit(node[child], child, sink, pause) }
        }
    }

    /// The number of groups that are checked between two reports of progress.
    private static let groupsAtOnce = 16

    /// Checks the groups below nodes of the lowest level, on all processors.
    private func checkGroups(
        _ groups: [(place: NodePlace, entry: FileEntry?)], _ pause: Pause
    ) throws(DataProtectionError) {
        for start in stride(from: 0, to: groups.count, by: Self.groupsAtOnce) {
            let some = Array(groups[start...].prefix(Self.groupsAtOnce))
            let results = CheckedParts(some.count)
            let part = part
            try Parallel.forEach(some.count, state: { part.makeBuffer() }) {
                (number, buffer) throws(DataProtectionError) in
                results[number] = try part.check(some[number].entry, some[number].place, in: buffer, nil)
            }
            for number in some.indices { merge(results[number]) }
            if let last = some.last { try pause(tree.content(below: last.place).upperBound) }
        }
    }

    private static func give(
        zeros content: Range<UInt64>, to sink: ContentSink?, _ pause: Pause
    ) throws(DataProtectionError) {
        guard let sink else { return }
        let buffer = ContentBuffer(count: Int(min(content.upperBound - content.lowerBound, 1 << 20)))
        buffer.bytes.initializeMemory(as: UInt8.self, repeating: 0)
        var rest = content.upperBound - content.lowerBound
        while rest > 0 {
            let part = min(rest, UInt64(buffer.bytes.count))
            try sink(UnsafeRawBufferPointer(rebasing: buffer.bytes[..<Int(part)]))
            rest -= part
            try pause(content.upperBound - rest)
        }
    }

    // MARK: Findings

    private func merge(_ found: CheckedPart) {
        for flaw in found.flaws { flaws.add(flaw) }
        newestLost = max(newestLost, found.newestLost)
        for (entry, content) in found.opened where !claims.take(entry) {
            flaws.add(
                Flaw(.place, content, losesContent: false, "the place of another part of the file is also theirs"))
        }
    }
}

/// The results of threads, each at an index of its own.
private final class CheckedParts: @unchecked Sendable {  // each thread has places of its own
    private let places: UnsafeMutableBufferPointer<CheckedPart>

    init(_ count: Int) {
        places = .allocate(capacity: count)
        places.initialize(repeating: CheckedPart())
    }

    deinit {
        places.deinitialize()
        places.deallocate()
    }

    subscript(index: Int) -> CheckedPart {
        get { places[index] }
        set { places[index] = newValue }
    }
}
