internal import Glibc
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

    /// The place of the child with a number, from 0 to 63.
    func child(_ number: Int) -> NodePlace {
        NodePlace(level: level - 1, index: index * UInt64(FileFormat.fanOut) + UInt64(number))
    }

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

    /// Decodes a node that has the form in which programs write it.
    ///
    /// - Parameter bytes: The stored bytes: a multiple of 64, at most 4,096.
    init(decoding bytes: UnsafeRawBufferPointer) throws(FileFormatError) {
        let (node, malformed) = Self.decode(bytes)
        guard malformed.isEmpty, node.storedCount * FileEntry.byteCount == bytes.count else {
            throw .tampered("a table of content has a form that no program writes")
        }
        self = node
    }

    /// Decodes a node of any form.
    ///
    /// - Returns: The node, with holes in the place of entries that are malformed, and the numbers of these.
    static func decode(_ bytes: UnsafeRawBufferPointer) -> (node: FileNode, malformed: [Int]) {
        var node = FileNode()
        node.bytes.withUnsafeMutableBytes { $0.copyMemory(from: bytes) }
        var malformed: [Int] = []
        for number in 0..<(bytes.count / FileEntry.byteCount) {
            do throws(FileFormatError) {
                _ = try FileEntry.decode(bytes.extracting(place(number)))
            } catch {
                malformed.append(number)
                node[number] = nil
            }
        }
        return (node, malformed)
    }

    /// The bytes of the entry at an index.
    static func place(_ index: Int) -> Range<Int> {
        (index * FileEntry.byteCount)..<((index + 1) * FileEntry.byteCount)
    }

    /// The entry at an index. `nil` stands for a hole.
    subscript(index: Int) -> FileEntry? {
        get {
            bytes.withUnsafeBytes { bytes in
                // Every entry was decoded before, or was encoded here.
                try? FileEntry.decode(bytes.extracting(Self.place(index)))
            }
        }
        set {
            bytes.withUnsafeMutableBytes { bytes in
                let place = bytes.extracting(Self.place(index))
                if let newValue { newValue.encode(into: place) } else { place.zero(0..<place.count) }
            }
        }
    }

    /// The indices at which another node has other entries.
    func changes(from other: FileNode) -> [Int] {
        bytes.withUnsafeBytes { bytes in
            other.bytes.withUnsafeBytes { other in
                (0..<FileFormat.fanOut).filter { index in
                    let start = index * FileEntry.byteCount
                    return memcmp(bytes.baseAddress! + start, other.baseAddress! + start, FileEntry.byteCount) != 0
                }
            }
        }
    }

    /// The number of entries that are stored, which end with the last one that is no hole.
    var storedCount: Int {
        bytes.withUnsafeBytes { bytes in
            // A hole is zeros, and no entry is.
            let words = bytes.bindMemory(to: UInt64.self)
            let wordsInEntry = FileEntry.byteCount / MemoryLayout<UInt64>.size
            return words.lastIndex { $0 != 0 }.map { $0 / wordsInEntry + 1 } ?? 0
        }
    }

    /// Runs `body` with the bytes that are stored.
    func withStoredBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        bytes.withUnsafeBytes { body($0.extracting(..<(storedCount * FileEntry.byteCount))) }
    }
}

/// Verified nodes of one file. A node may belong to any header of the file.
package final class NodeCache: Sendable {
    /// The largest number of nodes. They cover 2 GiB of content with chunks of 16 KiB, and take 8 MiB of memory.
    private static let most = 2048

    private struct Known {
        /// The entry in the node above, with the tag of this node. An equal entry stands for an equal node.
        let entry: FileEntry
        let node: FileNode
    }
    private let nodes = Mutex<[NodePlace: Known]>([:])

    package init() {}

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

    func copy(_ other: NodeCache) {
        let known = other.nodes.withLock { $0 }
        nodes.withLock { $0 = known }
    }

    func removeAll() { nodes.withLock { $0 = [:] } }
}
