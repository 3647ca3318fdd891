internal import CKeychainFuse
internal import DataProtectionCore
internal import FoundationEssentials
internal import Glibc
internal import KeychainSystem
internal import Synchronization

// Attributes: stat(2), and xattr(7).

extension Volume {
    func attributes(of node: Node, _ reply: inout Reply) throws(Refusal) {
        let attributes = attributes(of: node, try node.status())
        try reply.add(fuse_attr_out(attr_valid: Node.patience, attr_valid_nsec: 0, dummy: 0, attr: attributes))
    }

    func setAttributes(of node: Node, _ request: inout Request, _ reply: inout Reply) throws(Refusal) {
        let new = try request.take(fuse_setattr_in.self)
        func names(_ field: Int32) -> Bool { new.valid & UInt32(field) != 0 }
        if names(FATTR_UID) || names(FATTR_GID) {
            let (user, group) = (names(FATTR_UID) ? new.uid : .max, names(FATTR_GID) ? new.gid : .max)
            guard chown(node.path, user, group) == 0 else { throw .ofSystem() }
        }
        if names(FATTR_MODE) && chmod(node.path, new.mode & 0o7777) != 0 { throw .ofSystem() }
        if names(FATTR_SIZE) { try truncate(node, to: new.size, isOpen: names(FATTR_FH)) }
        if names(FATTR_ATIME) || names(FATTR_MTIME) {
            try node.setTimes([
                Self.time(names(FATTR_ATIME), isNow: names(FATTR_ATIME_NOW), new.atime, new.atimensec),
                Self.time(names(FATTR_MTIME), isNow: names(FATTR_MTIME_NOW), new.mtime, new.mtimensec),
            ])
        }
        try attributes(of: node, &reply)
    }

    private static func time(_ isNamed: Bool, isNow: Bool, _ seconds: UInt64, _ nanoseconds: UInt32) -> timespec {
        if !isNamed { return .omitted }
        if isNow { return .now }
        return timespec(tv_sec: Int(Int64(bitPattern: seconds)), tv_nsec: Int(nanoseconds))
    }

    // MARK: Extended attributes

    /// The attribute that has the class of a file, or the class that a directory gives to new files in it.
    static let classAttribute = "user.keychain.class"

    /// The class of a protected file, or the one that a directory names itself.
    private func protection(of node: Node) throws(Refusal) -> FileProtection? {
        switch node.type {
        case S_IFREG:
            if case .protected(let protection, _) = try node.kind() { return protection }
            return nil
        case S_IFDIR: return try refusing { () throws(DataProtectionError) in try files.directoryProtection(node.path) }
        default: return nil
        }
    }

    func getAttribute(of node: Node, _ request: inout Request, _ reply: inout Reply) throws(Refusal) {
        let size = Int(try request.take(fuse_getxattr_in.self).size)
        let name = try request.takeText()
        if strcmp(name, Self.capabilities) == 0 { throw Refusal(ENODATA) }
        if strcmp(name, Self.classAttribute) == 0 {
            guard let protection = try protection(of: node) else { throw Refusal(ENODATA) }
            try answer(Array(protection.name.utf8), size, &reply)
            return
        }
        if strcmp(name, ProtectedFiles.attributeOfMounts) == 0 { return try answer([1], size, &reply) }
        try requireOwn(name)
        try answer(size, &reply) { ckeychain_get_attribute(node.path, -1, name, $0, $1, &$2) }
    }

    func listAttributes(of node: Node, _ request: inout Request, _ reply: inout Reply) throws(Refusal) {
        let size = Int(try request.take(fuse_getxattr_in.self).size)
        var names: [UInt8] = []
        let file = node.isRegular || node.type == S_IFDIR ? try? node.reopened(O_RDONLY) : nil
        if let file {
            var list = [CChar](repeating: 0, count: 1 << 16)
            var count = 0
            try Refusal.require(ckeychain_list_attributes(file.number, &list, list.count, &count))
            for name in list[..<count].split(separator: 0).map({ $0.map { UInt8(bitPattern: $0) } })
            where !Self.hidden.contains(name) && !name.starts(with: "system.".utf8) { names += name + [0] }
        }
        if (try? protection(of: node)) != nil { names += Array(Self.classAttribute.utf8) + [0] }
        try answer(names, size, &reply)
    }

    private static let hidden = [ProtectedFiles.directoryAttribute, classAttribute, capabilities]
        .map { Array($0.utf8) }
    /// The kernel asks for it before it writes, and ignores it in a mount of a user's.
    private static let capabilities = "security.capability"

    func setAttribute(of node: Node, _ request: inout Request) throws(Refusal) {
        // Without FUSE_SETXATTR_EXT the structure ends after its two first fields.
        let (size, flags) = (try request.take(UInt32.self), try request.take(UInt32.self))
        let name = try request.takeText()
        let value = try request.takeBytes(Int(size))
        if strcmp(name, Self.classAttribute) == 0 {
            let name = String(decoding: value, as: UTF8.self)
            guard let protection = FileProtection.allCases.first(where: { $0.name == name }) else {
                throw Refusal(EINVAL)
            }
            // XATTR_CREATE and XATTR_REPLACE of setxattr(2).
            let isThere = try self.protection(of: node) != nil
            if flags == 1 && isThere { throw Refusal(EEXIST) }
            if flags == 2 && !isThere { throw Refusal(ENODATA) }
            return try setProtection(protection, of: node)
        }
        try requireOwn(name)
        try Refusal.require(
            ckeychain_fuse_set_attribute(
                node.path, name, value.baseAddress, value.count, Int32(bitPattern: flags)))
    }

    func setProtection(_ protection: FileProtection, of node: Node) throws(Refusal) {
        guard node.isRegular else {
            guard node.type == S_IFDIR else { throw Refusal(EOPNOTSUPP) }
            let value = Array(protection.rawValue.utf8)
            let name = ProtectedFiles.directoryAttribute
            return try Refusal.require(ckeychain_set_attribute(node.path, -1, name, value, value.count))
        }
        try node.withContent(O_RDWR, files) { (content) throws(Refusal) in
            let writer = try content.writer()
            try refusing { () throws(DataProtectionError) in try writer.setProtection(protection) }
            node.use.withLock { $0.isGuarded = protection.isGuarded }
        }
        // Pages that the kernel has are those of the former class.
        if protection.isGuarded { notices.pages(of: node) }
    }

    func removeAttribute(of node: Node, _ request: inout Request) throws(Refusal) {
        let name = try request.takeText()
        let isClass = strcmp(name, Self.classAttribute) == 0
        // A protected file always has a class.
        if isClass && node.type != S_IFDIR { throw Refusal(EPERM) }
        if !isClass { try requireOwn(name) }
        try Refusal.require(
            ckeychain_remove_attribute(
                node.path, -1, isClass ? ProtectedFiles.directoryAttribute : String(cString: name)))
    }

    /// Other programs' attributes are those of the file below. Access lists are not: the kernel would not obey them here.
    private func requireOwn(_ name: UnsafePointer<CChar>) throws(Refusal) {
        guard strncmp(name, "system.", 7) != 0 else { throw Refusal(EOPNOTSUPP) }
        guard strcmp(name, ProtectedFiles.directoryAttribute) != 0 else { throw Refusal(EPERM) }
    }

    private func answer(_ bytes: [UInt8], _ size: Int, _ reply: inout Reply) throws(Refusal) {
        try answer(size, &reply) { target, capacity, count in
            count = bytes.count
            if capacity > 0 && capacity < bytes.count { return ERANGE }
            if capacity > 0 { target!.copyMemory(from: bytes, byteCount: bytes.count) }
            return 0
        }
    }

    /// Answers with a value, or with its size if the kernel has no room for any.
    private func answer(
        _ size: Int, _ reply: inout Reply, _ read: (UnsafeMutableRawPointer?, Int, inout Int) -> Int32
    ) throws(Refusal) {
        var count = 0
        if size == 0 {
            try Refusal.require(read(nil, 0, &count))
            try reply.add(fuse_getxattr_out(size: UInt32(count), padding: 0))
        } else {
            try Refusal.require(read(reply.room.baseAddress, min(size, reply.room.count), &count))
            reply.add(count)
        }
    }
}
