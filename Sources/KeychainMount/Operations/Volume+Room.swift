internal import Glibc
internal import KeychainSystem
internal import Synchronization

// Room for nodes. Each takes a descriptor, and the kernel forgets files by itself only when it is short of memory.

extension Volume {
    /// The number of descriptors for nodes and open files. The others are for directories, for calls, and for files that
    /// programs look up while the kernel forgets older ones. That takes it half a second, and programs look up 10,000 files
    /// in a second.
    static let mostDescriptors: Int = {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let all = Int(clamping: limit.rlim_cur)
        return max(all / 2, all - max(all / 4, 128))
    }()

    /// Whether nodes and open files have nearly all descriptors.
    var isCrowded: Bool { nodes.count + Node.openFiles.load(ordering: .relaxed) > Self.mostDescriptors }

    /// Makes sure that a new name can have a node, so that a refusal leaves no name behind.
    func requireDescriptor() throws(Refusal) {
        let free = fcntl(nodes.root.descriptor.number, F_DUPFD_CLOEXEC, 0)
        guard free >= 0 else { throw .ofSystem() }
        close(free)
    }

    /// Has the kernel forget files that no program has open, if there are too many nodes.
    func makeRoom() {
        guard isCrowded, nextRoom.load(ordering: .relaxed) <= Node.clock,
            !isMakingRoom.exchange(true, ordering: .relaxed)
        else { return }
        notices.later { [self] device in
            let oldest = nodes.oldest
            var count = 0
            // Each is held for a moment, since its descriptor is closed when nothing has it any more. A directory stays: it
            // may be the working directory of a program.
            for id in oldest {
                guard let node = try? nodes.node(id), node.type != S_IFDIR, node.use.withLock({ $0.opens == 0 }),
                    let place = node.place.withLock({ $0 })
                else { continue }
                device.forget(place.name, in: place.directory.id)
                count += 1
            }
            // Where little could be forgotten, the next attempt comes later.
            if count < oldest.count / 4 { nextRoom.store(Node.clock + 1, ordering: .relaxed) }
            isMakingRoom.store(false, ordering: .relaxed)
        }
    }
}
