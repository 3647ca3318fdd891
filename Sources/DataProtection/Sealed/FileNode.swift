internal import KeychainCrypto
internal import Synchronization

/// Where a node, or a chunk (level 0), is in the tree of a file.
struct NodePlace: Hashable, Sendable {
    let level: UInt8
    let index: UInt64

    /// Of the node above it.
    var parent: NodePlace { NodePlace(level: level + 1, index: index / UInt64(FileFormat.fanOut)) }
    /// Which entry of the node above it is for this one.
    var indexInParent: Int { Int(index % UInt64(FileFormat.fanOut)) }

    /// The lowest node above a chunk.
    static func above(chunk: UInt64) -> NodePlace {
        NodePlace(level: 1, index: chunk / UInt64(FileFormat.fanOut))
    }
}

/// The entries of one node.
struct FileNode: Sendable {
    /// As they are stored; zeros behind the last one.
    private var bytes: [UInt8]

    /// Holes.
    init() { bytes = [UInt8](repeating: 0, count: FileFormat.nodeByteCount) }

    /// - Parameter bytes: A multiple of 64 of them, at most 4,096.
    init(decoding bytes: UnsafeRawBufferPointer) throws(FileFormatError) {
        self.init()
        var last: FileEntry?
        for start in stride(from: 0, to: bytes.count, by: FileEntry.byteCount) {
            last = try FileEntry.decode(UnsafeRawBufferPointer(rebasing: bytes[start..<(start + FileEntry.byteCount)]))
        }
        guard last != nil else { throw .tampered("a table of content ends in nothing") }
        self.bytes.withUnsafeMutableBytes { $0.copyMemory(from: bytes) }
    }

    /// nil: a hole.
    subscript(index: Int) -> FileEntry? {
        get {
            bytes.withUnsafeBytes { bytes in
                let start = index * FileEntry.byteCount
                // All were decoded before, or encoded here.
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

    /// As many as are stored: up to the last entry that is no hole.
    func withStoredBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        var result: Result<R, E>?
        bytes.withUnsafeBytes { bytes in
            // A hole is zeros, and nothing else is.
            let words = bytes.bindMemory(to: UInt64.self)
            let wordsInEntry = FileEntry.byteCount / MemoryLayout<UInt64>.size
            let count = words.lastIndex { $0 != 0 }.map { $0 / wordsInEntry + 1 } ?? 0
            let stored = UnsafeRawBufferPointer(rebasing: bytes[..<(count * FileEntry.byteCount)])
            do throws(E) { result = .success(try body(stored)) } catch { result = .failure(error) }
        }
        return try result!.get()
    }
}

/// Nodes of one file that were verified, whatever header they are below.
final class NodeCache: Sendable {
    /// Of 2 GiB of content with chunks of 16 KiB, in 8 MiB.
    private static let most = 2048

    private struct Known {
        /// What the node above has for it, its tag included: with the same entry it is the same node.
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
