internal import DataProtection
package import Foundation
internal import KeychainClient
internal import KeychainModel
package import KeychainTestSupport
internal import SwiftKeychain

/// A protected file, what it has to be, and a comparison of the two after every step.
///
/// After a power cut it has to be, whole, as some write since the last acknowledged sync has left it, or as it was then. If
/// a program died after another file had taken the name, and before that was acknowledged, the name may go back.
package final class FileModel {
    /// Where the file and what it has to be differ.
    package struct Difference: Error, CustomStringConvertible {
        package let description: String
    }

    /// One file, whatever its name.
    private final class Inode {
        var content: SparseContent
        var protection: FileProtection
        /// What a power cut may leave: what was acknowledged to be on the disk, then what each write has left.
        var possible: [SparseContent]

        init(_ content: SparseContent, _ protection: FileProtection) {
            self.content = content
            self.protection = protection
            possible = [content]
            possibleProtections = [protection]
        }

        /// Another one, of which the same is known.
        init(asIs other: Inode) {
            content = other.content
            protection = other.protection
            possible = other.possible
            possibleProtections = other.possibleProtections
            hasChanged = other.hasChanged
        }

        /// The same of its class: a change that was cut short can be there until a power cut.
        var possibleProtections: [FileProtection]
        /// Since the last sync, by a program that was told so.
        var hasChanged = false

        func become(_ content: SparseContent) {
            self.content = content
            possible.append(content)
        }

        func settle() {
            possible = [content]
            possibleProtections = [protection]
            hasChanged = false
        }
    }

    private struct Open {
        let handle: ProtectedFileHandle
        let inode: Inode
    }

    private let keychain: TestKeychain
    private let connections: [Connection]
    private let url: URL
    private let disk: ForgetfulDisk
    private let chunkBits: UInt8
    private let passcode: String
    private var isLocked = false
    private var bootCount: UInt64 = 0

    private var files: [ProtectedFiles] = []
    private var handles: [Open?] = [nil, nil, nil]
    private var inode: Inode
    /// What had the name before, and may have it again after a power cut: nobody made sure of the directory.
    private var formerInodes: [Inode] = []
    private let memory: UnsafeMutableRawBufferPointer

    /// How often each thing was done.
    package private(set) var counts: [String: Int] = [:]

    /// - Parameters:
    ///   - keychain: Unlocked, with a passcode.
    ///   - directory: Empty but for files of other models.
    package init(
        _ keychain: TestKeychain, passcode: String, in directory: URL, chunkBits: UInt8
    ) throws {
        self.keychain = keychain
        self.passcode = passcode
        self.chunkBits = chunkBits
        let own = directory.appendingPathComponent(UUID().uuidString)
        let attic = own.appendingPathComponent("attic")
        try FileManager.default.createDirectory(at: attic, withIntermediateDirectories: true)
        disk = ForgetfulDisk(attic: attic)
        url = own.appendingPathComponent("file")
        connections = (0..<2).map { _ in Connection(engine: keychain.handler, caller: Caller(groups: ["G"])) }
        memory = .allocate(byteCount: 8 << 20, alignment: 4096)
        inode = Inode(SparseContent(), .completeUntilFirstUserAuthentication)
        start()
        try files[0].write(Data(), to: url, protection: inode.protection)
    }

    deinit { memory.deallocate() }

    /// Removes its files.
    package func end() throws {
        if isLocked { try keychain.unlock(passcode) }
        closeAll()
        try FileManager.default.removeItem(at: url.deletingLastPathComponent())
    }

    /// Programs begin, under the system that runs.
    private func start() {
        let session = disk.start()
        let boot = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0, 0, 0, UInt8(truncatingIfNeeded: bootCount)))
        files = connections.map {
            ProtectedFiles(connection: $0, files: session, bootID: boot, chunkBits: chunkBits)
        }
    }

    private func closeAll() {
        for open in handles { open?.handle.closeWithoutWaiting() }
        handles = [nil, nil, nil]
    }

    // MARK: Steps

    package func perform(_ operation: FileOperation) throws {
        counts[operation.name, default: 0] += 1
        switch operation {
        case .lock:
            try keychain.lock(.now)
            isLocked = true
        case .unlock: try unlock()
        case .full(let inner, let call): try performOnFullDisk(inner, call)
        case .kill(let inner, let call):
            try performUntilDeath(inner, call)
            closeAll()
            start()
            try compareAfterwards(wasCut: false)
        case .powerCut(let inner, let call, let seed):
            try performUntilDeath(inner, call)
            closeAll()
            disk.powerCut(seed: seed)
            bootCount += 1
            start()
            try compareAfterwards(wasCut: true)
        default: try performOnce(operation)
        }
    }

    private func unlock() throws {
        if isLocked { try keychain.unlock(passcode) }
        isLocked = false
    }

    private func performOnce(_ operation: FileOperation) throws {
        switch operation {
        case .read(let number, let offset, let count): try read(number, offset, count)
        case .write(let number, _, _, _), .append(let number, _, _), .truncate(let number, _), .punch(let number, _):
            try change(number, operation)
        case .sync(let number): try sync(number)
        case .setProtection(let number, let protection): try setProtection(number, protection)
        case .close(let number): try close(number)
        case .abandon(let number):
            handles[number]?.handle.closeWithoutWaiting()
            handles[number] = nil
        case .replace(let count, let protection, let seed): try replace(count, protection, seed)
        case .lock, .unlock, .full, .kill, .powerCut: preconditionFailure("no operation of a file")
        }
    }

    // MARK: What a refusal means

    /// What the program itself may be told while the disk is as it should be.
    private enum Fault { case none, full, death }
    private var fault = Fault.none

    /// What the content is if the step that failed was carried out all the same, or not.
    private var uncertain: (Inode, SparseContent)?
    private var uncertainProtection: (Inode, FileProtection)?
    /// The same of a whole file.
    private var uncertainInode: Inode?

    private func isRefusable(_ error: DataProtectionError, _ protections: FileProtection...) -> Bool {
        switch error.code {
        case .locked: isLocked && protections.contains { $0 == .completeUnlessOpen || $0.fileClass.closesWithLock }
        case .system: fault == .death && disk.isDead && error.errno == EIO || fault == .full && error.errno == ENOSPC
        default: false
        }
    }

    private func handle(_ number: Int) throws -> Open? {
        if let open = handles[number] { return open }
        do throws(DataProtectionError) {
            let handle = try files[number % 2].open(url, for: number == 2 ? .reading : .writing)
            let open = Open(handle: handle, inode: inode)
            handles[number] = open
            return open
        } catch {
            guard error.code == .locked, isRefusable(error, inode.protection) else { throw error }
            return nil
        }
    }

    // MARK: Each operation

    private func change(_ number: Int, _ operation: FileOperation) throws {
        guard let open = try handle(number) else { return }
        let before = open.inode.content
        var after = before
        operation.apply(to: &after)
        let place: UInt64?
        do throws(DataProtectionError) {
            place = try operation.change(open.handle)
        } catch {
            guard isRefusable(error, open.inode.protection) else { throw error }
            if error.code != .locked { uncertain = (open.inode, after) }
            return
        }
        if let place, place != before.length {
            throw Difference(description: "appended at \(place) of \(before.length)")
        }
        open.inode.become(after)
        open.inode.hasChanged = true
        try requireNotLockedAway(open)
    }

    /// Class A does nothing while the keychain is locked, and neither does the class for an inactive user, since each
    /// lock here is one at once.
    private func requireNotLockedAway(_ open: Open) throws {
        guard isLocked && open.inode.protection.fileClass.closesWithLock else { return }
        throw Difference(description: "a file was used whose class is closed while the keychain is locked")
    }

    private func read(_ number: Int, _ offset: UInt64, _ count: Int) throws {
        guard let open = try handle(number) else { return }
        do throws(DataProtectionError) {
            let target = UnsafeMutableRawBufferPointer(rebasing: memory[..<count])
            let found = try open.handle.read(at: offset, into: target)
            let bytes = UnsafeRawBufferPointer(rebasing: target[..<found])
            guard open.inode.content.gives(bytes, at: offset, ofAtMost: count) else {
                throw DataProtectionError(.changedMeanwhile, "", "read \(found) bytes, and not those that are there")
            }
        } catch {
            guard isRefusable(error, open.inode.protection) else {
                throw Difference(description: "reading \(count) bytes at \(offset): \(error)")
            }
            return
        }
        try requireNotLockedAway(open)
    }

    private func sync(_ number: Int) throws {
        guard let open = try handle(number) else { return }
        let hasChanged = open.inode.hasChanged
        do throws(DataProtectionError) {
            try open.handle.sync()
            open.inode.settle()
        } catch {
            if number == 2 && error.errno == EBADF { return }
            guard isRefusable(error, open.inode.protection) else { throw error }
            return
        }
        if open.inode === inode && fault == .none { try audit(hasChanged) }
    }

    private func close(_ number: Int) throws {
        guard let open = handles[number] else { return }
        handles[number] = nil
        do throws(DataProtectionError) {
            try open.handle.close()
            if number < 2 { open.inode.settle() }
        } catch {
            guard isRefusable(error, open.inode.protection) else { throw error }
        }
    }

    private func setProtection(_ number: Int, _ protection: FileProtection) throws {
        guard let open = try handle(number) else { return }
        do throws(DataProtectionError) {
            try open.handle.setProtection(protection)
            open.inode.protection = protection
            open.inode.settle()
        } catch {
            if number == 2 && error.errno == EBADF { return }
            guard isRefusable(error, open.inode.protection, protection) else { throw error }
            if error.code != .locked { uncertainProtection = (open.inode, protection) }
        }
    }

    private func replace(_ count: Int, _ protection: FileProtection, _ seed: UInt64) throws {
        let data = SampleBytes.of(count, seed: seed)
        let new = Inode(SparseContent(data), protection)
        do throws(DataProtectionError) {
            try files[0].write(data, to: url, protection: protection)
            inode = new
            formerInodes = []
        } catch {
            guard isRefusable(error, protection) else { throw error }
            if error.code != .locked { uncertainInode = new }
        }
    }

    // MARK: Faults

    private func performOnFullDisk(_ operation: FileOperation, _ call: Int) throws {
        disk.fail(.full, at: call)
        fault = .full
        defer {
            disk.failNoMore()
            fault = .none
        }
        try performOnce(operation)
        disk.failNoMore()
        fault = .none
        if let uncertain {
            self.uncertain = nil
            // Refused: then it has not happened. Behind the end of class A nothing can be seen while it is locked.
            guard let open = handles.compactMap({ $0 }).first(where: { $0.inode === uncertain.0 }) else { return }
            if try !compare(open.handle, uncertain.0.content) {
                throw Difference(description: "what was refused for want of space has changed the file")
            }
        }
        if let (inode, protection) = uncertainProtection {
            uncertainProtection = nil
            let open = handles.compactMap({ $0 }).first { $0.inode === inode }
            if let found = try open?.handle.protection {
                guard [inode.protection, protection].contains(found) else {
                    throw Difference(description: "the class is neither the old one nor the new one")
                }
                inode.protection = found
            }
        }
        uncertainInode = nil
    }

    private func performUntilDeath(_ operation: FileOperation, _ call: Int) throws {
        disk.fail(.death, at: call)
        fault = .death
        defer { fault = .none }
        try performOnce(operation)
    }

    // MARK: Comparing

    /// What a program finds that begins now.
    private func compareAfterwards(wasCut: Bool) throws {
        try unlock()
        let handle: ProtectedFileHandle
        do throws(DataProtectionError) {
            handle = try files[1].open(url)
        } catch {
            throw Difference(description: "opening it afterwards: \(error)")
        }
        defer { handle.closeWithoutWaiting() }
        var candidates: [(Inode, SparseContent)] = []
        for inode in [inode, uncertainInode].compactMap({ $0 }) + (wasCut ? formerInodes : []) {
            var contents = wasCut ? inode.possible : [inode.content]
            if let (other, after) = uncertain, other === inode { contents.append(after) }
            candidates += contents.reversed().map { (inode, $0) }
        }
        for (inode, content) in candidates where try compare(handle, content) {
            if wasCut { formerInodes = [] } else { try noteFormer(handle, inode) }
            self.inode = inode
            // A power cut that comes without anything having been written leaves the same again.
            inode.become(content)
            try compareProtection(handle, wasCut)
            if wasCut { inode.settle() }
            (uncertain, uncertainProtection, uncertainInode) = (nil, nil, nil)
            return
        }
        let lengths = candidates.map { "\($0.1.length)" }.joined(separator: ", ")
        let length = try handle.length
        throw Difference(
            description:
                "it is as no write has left it since it was made durable: \(length) bytes, not one of \(lengths)")
    }

    /// A program that died while another file took the name did not make sure that it keeps it.
    ///
    /// - Parameter found: What has the name now.
    private func noteFormer(_ handle: ProtectedFileHandle, _ found: Inode) throws {
        guard let uncertainInode else { return }
        if found === uncertainInode {
            formerInodes.append(inode)
        } else if try compare(handle, uncertainInode.content) {
            // It is one or the other.
            formerInodes += [uncertainInode, Inode(asIs: inode)]
        }
    }

    private func compareProtection(_ handle: ProtectedFileHandle, _ wasCut: Bool) throws {
        let found = try handle.protection
        var possible = wasCut ? inode.possibleProtections : [inode.protection]
        if let (other, protection) = uncertainProtection, other === inode { possible.append(protection) }
        guard possible.contains(found) else {
            throw Difference(description: "its class is \(found), and not one of \(possible)")
        }
        inode.protection = found
        inode.possibleProtections.append(found)
    }

    private func compare(_ handle: ProtectedFileHandle, _ content: SparseContent) throws -> Bool {
        do throws(DataProtectionError) {
            return try handle.has(content, in: memory)
        } catch {
            if error.code == .locked && isLocked { return true }
            throw Difference(description: "reading it: \(error)")
        }
    }

    /// Compares everything at the end of a run.
    package func finish() throws {
        try unlock()
        closeAll()
        start()
        let handle = try files[0].open(url)
        defer { handle.closeWithoutWaiting() }
        guard try compare(handle, inode.content) else {
            throw Difference(description: "in the end its content is another one")
        }
    }

    /// - Parameter hasChanged: Otherwise the file may still be one that was found after a power cut.
    private func audit(_ hasChanged: Bool) throws {
        if isLocked { return }
        let audit = try FileAudit(of: url, connections[0])
        guard audit.isDurable || !hasChanged else {
            throw Difference(description: "it was synced, and its header does not say so")
        }
    }
}

extension FileOperation {
    /// For counting.
    fileprivate var name: String { String("\(self)".dropFirst().prefix { $0.isLetter }) }
}
