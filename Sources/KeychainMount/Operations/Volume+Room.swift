internal import Glibc
internal import Synchronization

// Room for nodes. Each takes a descriptor, and the kernel forgets files by itself only when it is short of memory.

extension Volume {
    /// Half of the descriptors are for nodes. The other half is for files that are open.
    static let mostNodes: Int = {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return Int(clamping: limit.rlim_cur / 2)
    }()

    /// Has the kernel forget files that no program has open, if there are too many nodes.
    func makeRoom() {
        guard nodes.count > mostNodesNow.load(ordering: .relaxed), !isMakingRoom.exchange(true, ordering: .relaxed)
        else { return }
        notices.later { [self] device in
            // A directory stays: it may be the working directory of a program.
            for node in nodes.oldest where node.type != S_IFDIR && node.use.withLock({ $0.opens == 0 }) {
                guard let place = node.place.withLock({ $0 }) else { continue }
                device.forget(place.name, in: place.directory.id)
            }
            // Where little could be forgotten, the next attempt comes later.
            mostNodesNow.store(max(Self.mostNodes, nodes.count + Self.mostNodes / 8), ordering: .relaxed)
            isMakingRoom.store(false, ordering: .relaxed)
        }
    }
}
