internal import CKeychainFuse
internal import Glibc
internal import KeychainSystem

/// The nodes that the kernel knows. Each answer that names one counts, and the kernel says how many of them it forgets.
final class NodeTable: Sendable {
    private struct Entry {
        let node: Node
        var lookups: UInt64
    }
    private struct State {
        var entries: [UInt64: Entry]
        var numbers: [FileNumber: UInt64] = [:]
        // Numbers are not used twice, so an answer that comes late never means another file.
        var next = UInt64(FUSE_ROOT_ID) + 1

        /// One that rests does not count: the number may be another file's by now.
        func node(_ number: FileNumber) -> Node? {
            guard let node = numbers[number].flatMap({ entries[$0]?.node }), node.descriptor >= 0 else { return nil }
            return node
        }

        mutating func foundAgain(_ number: FileNumber) -> Node? {
            guard let node = node(number) else { return nil }
            entries[node.id]?.lookups += 1
            return node
        }
    }
    private let state: BriefLock<State>
    let root: Node

    init(root descriptor: OpenDescriptor) throws(Refusal) {
        var status = stat()
        guard fstat(descriptor.number, &status) == 0 else { throw .ofSystem() }
        let root = Node(UInt64(FUSE_ROOT_ID), descriptor, status)
        self.root = root
        state = BriefLock(State(entries: [root.id: Entry(node: root, lookups: 1)], numbers: [root.number: root.id]))
    }

    /// - Throws: `ESTALE` for a number that was never given, or was forgotten.
    func node(_ id: UInt64) throws(Refusal) -> Node {
        guard let node = state.withLock({ $0.entries[id]?.node }) else { throw Refusal(ESTALE) }
        return node
    }

    /// The node of a file that the kernel knows already.
    func node(_ number: FileNumber) -> Node? {
        state.withLock { $0.node(number) }
    }

    /// The node of a file that the kernel knows already, and counts that it is told of it once more.
    func foundAgain(_ number: FileNumber) -> Node? {
        state.withLock { $0.foundAgain(number) }
    }

    /// The node of a file, and counts that the kernel is told of it. Several names of one file are one node.
    ///
    /// - Parameter descriptor: The file, opened to be named. It is kept if the file is a new one.
    func found(_ descriptor: OpenDescriptor, _ status: stat) -> Node {
        state.withLock { state in
            if let node = state.foundAgain(FileNumber(status)) { return node }
            let node = Node(state.next, descriptor, status)
            state.next += 1
            state.entries[node.id] = Entry(node: node, lookups: 1)
            state.numbers[node.number] = node.id
            return node
        }
    }

    /// Takes back that the kernel was told of a node so many times. The root stays.
    func forget(_ id: UInt64, _ count: UInt64) {
        // The descriptor is closed outside of the lock.
        _ = state.withLock { state -> Node? in
            guard id != root.id, let entry = state.entries[id] else { return nil }
            guard entry.lookups <= count else {
                state.entries[id]?.lookups -= count
                return nil
            }
            state.entries[id] = nil
            if state.numbers[entry.node.number] == id { state.numbers[entry.node.number] = nil }
            return entry.node
        }
    }

    var all: [Node] { state.withLock { $0.entries.values.map(\.node) } }
}
