package import KeychainModel
internal import KeychainSystem

/// A search for many patterns at once, a byte at a time (Aho and Corasick, 1975).
///
/// A state is the longest end of the bytes read so far that is the beginning of a pattern. The states spell out the
/// patterns, so they are erased as secrets are.
package final class PatternTable {
    struct State: Equatable {
        fileprivate(set) var index: Int32 = 0
    }

    private struct Node {
        var byte: UInt8 = 0
        /// The number of bytes of a pattern that the node stands for.
        var depth: Int32 = 0
        /// The length of the longest pattern that ends here; 0: none does.
        var match: Int32 = 0
        /// The state for the longest shorter end that is the beginning of a pattern.
        var shorter: Int32 = 0
        var firstChild: Int32 = 0
        var nextSibling: Int32 = 0
    }

    private let nodes: UnsafeMutableBufferPointer<Node>
    private var count = 1
    /// The children of the first node, by their bytes. Nearly all output is looked up here.
    private let starts: UnsafeMutableBufferPointer<Int32>
    package private(set) var longest = 0

    package init(_ patterns: [SecretBytes]) {
        nodes = .allocate(capacity: 1 + patterns.reduce(0) { $0 + $1.count })
        nodes.initialize(repeating: Node())
        starts = .allocate(capacity: 256)
        starts.initialize(repeating: 0)
        for pattern in patterns { pattern.withUnsafeBytes { add($0) } }
        linkEnds()
    }

    deinit {
        ckeychain_erase(nodes.baseAddress, nodes.count * MemoryLayout<Node>.stride)
        nodes.deallocate()
        ckeychain_erase(starts.baseAddress, starts.count * MemoryLayout<Int32>.stride)
        starts.deallocate()
    }

    package var isEmpty: Bool { longest == 0 }

    private func add(_ pattern: UnsafeRawBufferPointer) {
        var place: Int32 = 0
        for byte in pattern {
            if let known = child(of: place, byte) {
                place = known
                continue
            }
            let new = Int32(count)
            count += 1
            nodes[Int(new)].byte = byte
            nodes[Int(new)].depth = nodes[Int(place)].depth + 1
            nodes[Int(new)].nextSibling = nodes[Int(place)].firstChild
            nodes[Int(place)].firstChild = new
            if place == 0 { starts[Int(byte)] = new }
            place = new
        }
        nodes[Int(place)].match = Int32(pattern.count)
        longest = max(longest, pattern.count)
    }

    /// The links are made level by level, because the shorter end of a node is on an earlier level.
    private func linkEnds() {
        var level: [Int32] = [0]
        while !level.isEmpty {
            var next: [Int32] = []
            for parent in level {
                var node = nodes[Int(parent)].firstChild
                while node != 0 {
                    if parent != 0 {
                        nodes[Int(node)].shorter = follow(nodes[Int(parent)].shorter, nodes[Int(node)].byte)
                    }
                    if nodes[Int(node)].match == 0 {
                        nodes[Int(node)].match = nodes[Int(nodes[Int(node)].shorter)].match
                    }
                    next.append(node)
                    node = nodes[Int(node)].nextSibling
                }
            }
            level = next
        }
    }

    private func child(of parent: Int32, _ byte: UInt8) -> Int32? {
        if parent == 0 { return starts[Int(byte)] == 0 ? nil : starts[Int(byte)] }
        var node = nodes[Int(parent)].firstChild
        while node != 0 && nodes[Int(node)].byte != byte { node = nodes[Int(node)].nextSibling }
        return node == 0 ? nil : node
    }

    private func follow(_ place: Int32, _ byte: UInt8) -> Int32 {
        var place = place
        while place != 0 {
            if let next = child(of: place, byte) { return next }
            place = nodes[Int(place)].shorter
        }
        return starts[Int(byte)]
    }

    // MARK: Searching

    func next(_ state: State, _ byte: UInt8) -> State { State(index: follow(state.index, byte)) }

    /// The number of bytes before the next one that begins a pattern.
    func innocentCount(_ bytes: UnsafeRawBufferPointer) -> Int {
        bytes.firstIndex { starts[Int($0)] != 0 } ?? bytes.count
    }

    /// The number of the last bytes that may begin a pattern.
    func heldCount(_ state: State) -> Int { Int(nodes[Int(state.index)].depth) }

    /// The length of the longest pattern that ends here; 0: none does.
    func matchCount(_ state: State) -> Int { Int(nodes[Int(state.index)].match) }
}
