internal import Foundation
internal import Glibc
internal import KeychainCrypto
internal import KeychainModel

/// Opens everything that one header of a file refers to, and notes what does not.
///
/// Nothing that is below a node that does not open can be had: where it lies, its nonce and its tag are in that node alone.
final class SealedFileCheck {
    let header: FileHeader
    private let part: SealedFilePart
    private let tree: FileTree

    private(set) var flaws = FlawList()
    private var claims = PageClaims()
    /// How many pages what has opened takes.
    var usedPages: UInt64 { claims.count }
    /// The highest write count of an entry whose chunk or node does not open; 0: all do.
    private(set) var newestLost: UInt64 = 0

    /// Called now and then with the bytes of content that are dealt with.
    typealias Pause = (UInt64) throws(DataProtectionError) -> Void

    /// - Parameters:
    ///   - file: Open for reading.
    ///   - size: That it really has.
    ///   - header: Verified with the file key.
    ///   - sink: nil: only looks, on all processors.
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

    /// How many bytes of content can be had.
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

    /// How many groups are looked at before whoever waits is told.
    private static let groupsAtOnce = 16

    /// What lies below nodes of the lowest level, on all processors.
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

    // MARK: What was found

    private func merge(_ found: CheckedPart) {
        for flaw in found.flaws { flaws.add(flaw) }
        newestLost = max(newestLost, found.newestLost)
        for (entry, content) in found.opened where !claims.take(entry) {
            flaws.add(
                Flaw(.place, content, losesContent: false, "the place of another part of the file is also theirs"))
        }
    }
}

/// What threads found, each in its own place.
private final class CheckedParts: @unchecked Sendable {  // no two threads have the same place
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
