internal import CKeychainFuse
internal import DataProtectionCore
internal import Glibc
internal import KeychainModel
internal import KeychainSystem
internal import Synchronization

// Names in directories. They are those of the directory below, in clear.

extension Volume {
    /// The node that a name in a directory means, which the kernel is told of.
    func found(_ name: UnsafePointer<CChar>, in directory: Node) throws(Refusal) -> (node: Node, status: stat) {
        var status = stat()
        let flags = AT_SYMLINK_NOFOLLOW | 0x800  // AT_NO_AUTOMOUNT
        guard fstatat(directory.descriptor, name, &status, flags) == 0 else { throw .ofSystem() }
        let node: Node
        if let known = known(status) {
            node = known
        } else {
            let descriptor: OpenDescriptor
            (descriptor, status) = try directory.look(name)
            node = nodes.found(descriptor, status)
        }
        node.noteName(name, in: directory)
        makeRoom(for: node)
        return (node, status)
    }

    /// The node of a file that the kernel knows, which need not be opened again. A directory is always opened: it may be the
    /// root of another mount, which is not entered.
    private func known(_ status: stat) -> Node? {
        guard status.st_mode & S_IFMT != S_IFDIR, let node = nodes.foundAgain(FileNumber(status)) else { return nil }
        // Between the look at the name and the look into the table, the number may have passed to another file.
        if let own = try? node.status(), own.st_ctim.tv_sec == status.st_ctim.tv_sec,
            own.st_ctim.tv_nsec == status.st_ctim.tv_nsec
        {
            return node
        }
        nodes.forget(node.id, 1)
        return nil
    }

    /// The node that a name means, which the kernel is not told of. `nil` means that there is no regular file.
    private func regularFile(_ name: UnsafePointer<CChar>, in directory: Node) -> Node? {
        guard let (descriptor, status) = try? directory.look(name), status.st_mode & S_IFMT == S_IFREG else {
            return nil
        }
        let node = nodes.node(FileNumber(status)) ?? Node(0, descriptor, status)
        node.noteName(name, in: directory)
        return node
    }

    /// Answers with the node of a name.
    func answerEntry(_ name: UnsafePointer<CChar>, in directory: Node, _ reply: inout Reply) throws(Refusal) {
        let (node, status) = try found(name, in: directory)
        try reply.add(entry(node, status))
    }

    func lookUp(in directory: Node, _ request: inout Request, _ reply: inout Reply) throws(Refusal) {
        do throws(Refusal) {
            try answerEntry(try request.takeName(), in: directory, &reply)
        } catch {
            guard error.number == ENOENT else { throw error }
            // Without a number the kernel keeps for a moment that there is nothing of the name.
            var nothing = fuse_entry_out()
            nothing.entry_valid = Node.patience
            try reply.add(nothing)
        }
    }

    func readLink(_ node: Node, _ reply: inout Reply) throws(Refusal) {
        let room = reply.room.assumingMemoryBound(to: CChar.self)
        let count = readlinkat(node.descriptor, "", room.baseAddress!, Int(PATH_MAX))
        guard count >= 0 else { throw .ofSystem() }
        reply.add(count)
    }

    func makeLink(in directory: Node, _ request: inout Request, _ reply: inout Reply) throws(Refusal) {
        let (name, target) = (try request.takeName(), try request.takeText())
        try requireDescriptor()
        guard symlinkat(target, directory.descriptor, name) == 0 else { throw .ofSystem() }
        try answerEntry(name, in: directory, &reply)
    }

    /// Makes a pipe, a socket, or a file that is empty.
    func makeNode(in directory: Node, _ request: inout Request, _ reply: inout Reply) throws(Refusal) {
        let node = try request.take(fuse_mknod_in.self)
        let name = try request.takeName()
        try requireDescriptor()
        guard mknodat(directory.descriptor, name, node.mode, dev_t(node.rdev)) == 0 else { throw .ofSystem() }
        try answerEntry(name, in: directory, &reply)
    }

    func makeDirectory(in directory: Node, _ request: inout Request, _ reply: inout Reply) throws(Refusal) {
        let made = try request.take(fuse_mkdir_in.self)
        let name = try request.takeName()
        try requireDescriptor()
        guard mkdirat(directory.descriptor, name, made.mode) == 0 else { throw .ofSystem() }
        try answerEntry(name, in: directory, &reply)
    }

    func remove(in directory: Node, _ request: inout Request, _ flags: Int32) throws(Refusal) {
        guard unlinkat(directory.descriptor, try request.takeName(), flags) == 0 else { throw .ofSystem() }
    }

    func rename(in directory: Node, _ request: inout Request) throws(Refusal) {
        var arguments = fuse_rename2_in()
        if request.header.opcode == FUSE_RENAME2.rawValue {
            arguments = try request.take(fuse_rename2_in.self)
        } else {
            arguments.newdir = try request.take(fuse_rename_in.self).newdir
        }
        let target = try nodes.node(arguments.newdir)
        let (old, new) = (try request.takeName(), try request.takeName())
        if arguments.flags == 0 { try keepClass(old, in: directory, over: new, in: target) }
        try Refusal.require(
            ckeychain_fuse_rename(
                directory.descriptor, old, target.descriptor, new, arguments.flags))
        for (name, directory) in [(old, directory), (new, target)] {
            guard let (_, status) = try? directory.look(name), let node = nodes.node(FileNumber(status)) else {
                continue
            }
            node.noteName(name, in: directory)
        }
    }

    /// Gives a file the class of the one whose place it takes, if that is stronger: an editor that saves a file by a new one
    /// does not mean to make it easier to read.
    private func keepClass(
        _ old: UnsafePointer<CChar>, in directory: Node, over new: UnsafePointer<CChar>, in target: Node
    ) throws(Refusal) {
        guard let replaced = regularFile(new, in: target)?.claimedProtection,
            let file = regularFile(old, in: directory), let present = file.claimedProtection,
            replaced.fileClass.isStronger(than: present.fileClass)
        else { return }
        try setProtection(replaced, of: file)
    }

    func link(in directory: Node, _ request: inout Request, _ reply: inout Reply) throws(Refusal) {
        let node = try nodes.node(try request.take(fuse_link_in.self).oldnodeid)
        let name = try request.takeName()
        try node.awake { () throws(Refusal) in
            let result = linkat(AT_FDCWD, node.path, directory.descriptor, name, AT_SYMLINK_FOLLOW)
            guard result == 0 else { throw .ofSystem() }
        }
        try answerEntry(name, in: directory, &reply)
    }
}
