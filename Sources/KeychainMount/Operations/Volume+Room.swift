internal import Glibc
internal import KeychainSystem
internal import Synchronization

// Room for nodes. The kernel forgets files only when it is short of memory.

extension Node {
    /// The number of descriptors for nodes and open files. The others are for open directories, and for calls.
    fileprivate static let mostDescriptors: Int = {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let all = Int(clamping: limit.rlim_cur)
        return max(all / 2, all - max(all / 4, 128))
    }()

    fileprivate static var descriptors: Int { held.load(ordering: .relaxed) + openFiles.load(ordering: .relaxed) }

    /// Whether nodes and open files have nearly all descriptors.
    static var areTooMany: Bool { descriptors > mostDescriptors }
}

extension Volume {
    /// Makes sure that a new name can have a node, so that a refusal leaves no name behind.
    func requireDescriptor() throws(Refusal) {
        let free = fcntl(nodes.root.descriptor, F_DUPFD_CLOEXEC, 0)
        guard free >= 0 else { throw .ofSystem() }
        close(free)
    }

    /// Has files rest that no program has open, if nodes have too many descriptors.
    ///
    /// - Parameter new: A node that was just found. It rests if the others cannot.
    func makeRoom(for new: Node) {
        guard Node.areTooMany else { return }
        if nextRoom.load(ordering: .relaxed) <= Node.clock {
            for node in nodes.all { node.rest() }
            // Where few can rest, the next attempt comes later.
            if Node.descriptors > Node.mostDescriptors / 4 * 3 { nextRoom.store(Node.clock + 1, ordering: .relaxed) }
        }
        if Node.areTooMany { new.rest() }
    }
}
