internal import KeychainCrypto
internal import Synchronization

/// The place of a node, or of a chunk (level 0), in the tree of a file.
struct NodePlace: Hashable, Sendable {
    let level: UInt8
    let index: UInt64

    /// The place of the node above.
    var parent: NodePlace { NodePlace(level: level + 1, index: index / UInt64(FileFormat.fanOut)) }
    /// The index of the entry for this place in the node above.
    var indexInParent: Int { Int(index % UInt64(FileFormat.fanOut)) }

    /// The place of the lowest node above a chunk.
    static func above(chunk: UInt64) -> NodePlace {
        NodePlace(level: 1, index: chunk / UInt64(FileFormat.fanOut))
    }
}

/// The entries of one node.
struct FileNode: Sendable {
    /// The entries in their stored form, with zeros behind the last one.
    private var bytes: [UInt8]

    /// Makes a node of holes.
    init() { bytes = [UInt8](repeating: 0, count: FileFormat.nodeByteCount) }

    /// Decodes a node.
    ///
    /// - Parameter bytes: The stored bytes: a multiple of 64, at most 4,096.
    init(decoding bytes: UnsafeRawBufferPointer) throws(FileFormatError) {
        self.init()
        var last: FileEntry?
        for start in stride(from: 0, to: bytes.count, by: FileEntry.byteCount) {
            last = try FileEntry.decode(UnsafeRawBufferPointer(rebasing: bytes[start..<(start + FileEntry.byteCount)]))
        }
        guard last != nil else { throw .tampered("a table of content ends in nothing") }
        self.bytes.withUnsafeMutableBytes { $0.copyMemory(from: bytes) }
    }

    /// The entry at an index. `nil` stands for a hole.
    subscript(index: Int) -> FileEntry? {
        get {
            bytes.withUnsafeBytes { bytes in
                let start = index * FileEntry.byteCount
                // Every entry was decoded before, or was encoded here.
                return try? FileEntry.decode(
                    UnsafeRawBufferPointer(rebasing: bytes[start..<(start + FileEntry.byteCount)]))
            }
        }
        set {
            bytes.withUnsafeMutableBytes { bytes in
                let start = index * FileEntry.byteCount
                let place = UnsafeMutableRawBufferPointer(rebasing: bytes[start..<(start + FileEntry.byteCount)])
                if let newValue {
                    newValue.encode(into: place)
                } else {
                    place.initializeMemory(as: UInt8.self, repeating: 0)
                }
            }
        }
    }

    /// Runs `body` with the bytes that are stored, which end with the last entry that is no hole.
    func withStoredBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        var result: Result<R, E>?
        bytes.withUnsafeBytes { bytes in
            // A hole is zeros, and no entry is.
            let words = bytes.bindMemory(to: UInt64.self)
            let wordsInEntry = FileEntry.byteCount / MemoryLayout<UInt64>.size
            let count = words.lastIndex { $0 != 0 }.map { $0 / wordsInEntry + 1 } ?? 0
            let stored = UnsafeRawBufferPointer(rebasing: bytes[..<(count * FileEntry.byteCount)])
            do throws(E) { result = .success(try body(stored)) } catch { result = .failure(error) }
        }
        return try result!.get()
    }
}

/// Verified nodes of one file. A node may belong to any header of the file.
final class NodeCache: Sendable {
    /// The largest number of nodes. They cover 2 GiB of content with chunks of 16 KiB, and take 8 MiB of memory.
    private static let most = 2048

    private struct Known {
        /// The entry in the node above, with the tag of this node. An equal entry stands for an equal node.
        let entry: FileEntry
        let node: FileNode
    }
    private let nodes = Mutex<[NodePlace: Known]>([:])

    func node(at place: NodePlace, for entry: FileEntry) -> FileNode? {
        nodes.withLock { nodes in
            guard let known = nodes[place], known.entry == entry else { return nil }
            return known.node
        }
    }

    func keep(_ node: FileNode, at place: NodePlace, for entry: FileEntry) {
        nodes.withLock { nodes in
            if nodes.count >= Self.most && nodes[place] == nil { nodes.removeAll(keepingCapacity: true) }
            nodes[place] = Known(entry: entry, node: node)
        }
    }

    func removeAll() { nodes.withLock { $0 = [:] } }
}
