import CKeychainFuse
import DataProtectionCore
import Foundation
import KeychainClient
import KeychainModel
import KeychainSystem
import KeychainTestSupport
import Testing

@testable import KeychainMount

/// Requests to a volume without a kernel: its table of nodes, and what it makes of any bytes.
@Suite struct MountVolumeTests {
    /// A volume over an empty directory, and a device that goes nowhere.
    private func withVolume(_ body: (Volume, URL, TestKeychain) throws -> Void) throws {
        try withKeychain(.embedded) { keychain in
            let below = keychain.directory.appendingPathComponent("below")
            try FileManager.default.createDirectory(at: below, withIntermediateDirectories: false)
            let files = ProtectedFiles(
                connection: Connection(engine: keychain.handler, caller: Caller(groups: ["G"])))
            let root = OpenDescriptor(open(below.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
            let device = Device(OpenDescriptor(open("/dev/null", O_RDWR | O_CLOEXEC)))
            try body(try Volume(root: root, files, Notices(device)), below, keychain)
            // A mode may keep an ordinary user from removing what is there.
            chmod(below.path, 0o755)
            for name in FileManager.default.enumerator(atPath: below.path) ?? .init() {
                chmod("\(below.path)/\(name)", 0o755)
            }
        }
    }

    /// The answer to a request, without its header.
    private func answer(
        _ volume: Volume, _ opcode: fuse_opcode, _ node: UInt64, _ arguments: Data
    ) throws -> Data {
        var header = fuse_in_header()
        header.opcode = opcode.rawValue
        header.nodeid = node
        header.len = UInt32(MemoryLayout<fuse_in_header>.size + arguments.count)
        let bytes = withUnsafeBytes(of: header) { Data($0) } + arguments
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: Device.bufferSize, alignment: 4096)
        defer { memory.deallocate() }
        return try bytes.withUnsafeBytes { bytes in
            var request = try #require(Request(bytes))
            var reply = Reply(in: memory)
            _ = try volume.answer(&request, &reply)
            return Data(reply.finished(1, nil)).dropFirst(Reply.headerSize)
        }
    }

    /// Makes a file of the class that its directory has, and leaves it open. The answer has its node first.
    private func made(_ volume: Volume, _ name: String) throws -> UInt64 {
        var arguments = fuse_create_in()
        (arguments.flags, arguments.mode) = (UInt32(O_RDWR), 0o600)
        return node(
            try answer(volume, FUSE_CREATE, UInt64(FUSE_ROOT_ID), bytes(of: arguments) + Data(name.utf8) + [0]))
    }

    private func write(_ volume: Volume, _ node: UInt64, _ content: Data) throws {
        var arguments = fuse_write_in()
        arguments.size = UInt32(content.count)
        _ = try answer(volume, FUSE_WRITE, node, bytes(of: arguments) + content)
    }

    private func bytes<T: BitwiseCopyable>(of value: T) -> Data { withUnsafeBytes(of: value) { Data($0) } }

    private func node(_ answer: Data) -> UInt64 { answer.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) } }

    @Test func aNodeIsForgottenWithItsLastCountAndItsNumberIsNotUsedAgain() throws {
        try withVolume { volume, below, _ in
            try Data().write(to: below.appendingPathComponent("file"))
            try FileManager.default.linkItem(
                at: below.appendingPathComponent("file"), to: below.appendingPathComponent("other"))
            let name = Data("file\0".utf8), root = UInt64(FUSE_ROOT_ID)
            let first = node(try answer(volume, FUSE_LOOKUP, root, name))
            // Another name of the file is the same node.
            #expect(node(try answer(volume, FUSE_LOOKUP, root, Data("other\0".utf8))) == first)
            #expect(volume.nodes.all.count == 2)
            _ = try answer(volume, FUSE_FORGET, first, bytes(of: fuse_forget_in(nlookup: 1)))
            _ = try answer(volume, FUSE_GETATTR, first, bytes(of: fuse_getattr_in()))
            _ = try answer(volume, FUSE_FORGET, first, bytes(of: fuse_forget_in(nlookup: 1)))
            #expect(volume.nodes.all.count == 1)
            #expect(throws: Refusal(ESTALE)) { try answer(volume, FUSE_GETATTR, first, bytes(of: fuse_getattr_in())) }
            #expect(node(try answer(volume, FUSE_LOOKUP, root, name)) > first)
            // The root stays, whatever the kernel says.
            _ = try answer(volume, FUSE_FORGET, root, bytes(of: fuse_forget_in(nlookup: .max)))
            _ = try answer(volume, FUSE_GETATTR, root, bytes(of: fuse_getattr_in()))
        }
    }

    @Test func aFileThatNoProgramHasOpenRestsUntilItIsUsedByItsName() throws {
        try withVolume { volume, below, _ in
            let file = try resting(volume, "file")
            _ = try answer(volume, FUSE_GETATTR, file.id, bytes(of: fuse_getattr_in()))
            #expect(file.descriptor >= 0)
            _ = try answer(volume, FUSE_OPEN, file.id, bytes(of: fuse_open_in()))
            file.rest()
            #expect(file.descriptor >= 0, "It is open.")
            let root = try volume.nodes.node(UInt64(FUSE_ROOT_ID))
            root.rest()
            #expect(root.descriptor >= 0)
        }
    }

    @Test func aNameOrANumberThatHasPassedToAnotherFileDoesNotLeadToTheOneThatRests() throws {
        try withVolume { volume, below, _ in
            let file = try resting(volume, "file")
            func path(_ name: String) -> String { below.appendingPathComponent(name).path }
            func look() throws { _ = try answer(volume, FUSE_GETATTR, file.id, bytes(of: fuse_getattr_in())) }
            rename(path("file"), path("other"))
            #expect(throws: Refusal(ESTALE)) { try look() }
            try Data().write(to: below.appendingPathComponent("file"))
            #expect(throws: Refusal(ESTALE)) { try look() }
            let root = UInt64(FUSE_ROOT_ID)
            let other = node(try answer(volume, FUSE_LOOKUP, root, Data("other\0".utf8)))
            let new = node(try answer(volume, FUSE_LOOKUP, root, Data("file\0".utf8)))
            #expect(Set([file.id, other, new]).count == 3)
            // The new node has the number now.
            _ = try answer(volume, FUSE_FORGET, file.id, bytes(of: fuse_forget_in(nlookup: 1)))
            #expect(node(try answer(volume, FUSE_LOOKUP, root, Data("other\0".utf8))) == other)
        }
    }

    @Test func aFileThatRestsUnderAnotherNameKeepsItsClassOverARename() throws {
        try withVolume { volume, below, _ in
            let root = UInt64(FUSE_ROOT_ID)
            let strong = try volume.nodes.node(try made(volume, "strong"))
            try volume.setProtection(.complete, of: strong)
            let weak = try resting(volume, "weak")
            weak.noteName("gone", in: try volume.nodes.node(root))
            let arguments = bytes(of: fuse_rename_in(newdir: root)) + Data("weak\0strong\0".utf8)
            _ = try answer(volume, FUSE_RENAME, root, arguments)
            let found = try volume.nodes.node(node(try answer(volume, FUSE_LOOKUP, root, Data("strong\0".utf8))))
            #expect(found.claimedProtection == .complete)
        }
    }

    private func resting(_ volume: Volume, _ name: String) throws -> Node {
        let file = try volume.nodes.node(try made(volume, name))
        _ = try answer(volume, FUSE_RELEASE, file.id, bytes(of: fuse_release_in()))
        file.rest()
        #expect(file.descriptor == -1)
        return file
    }

    @Test func aSyncMakesTheNewestHeaderDurable() throws {
        try withVolume { volume, below, _ in
            let file = try made(volume, "file")
            try write(volume, file, Data("content".utf8))
            /// The boot mark of the header with the higher sequence (docs/file-format.md).
            func mark() throws -> Data {
                let page = try Data(contentsOf: below.appendingPathComponent("file"))
                let slots = [0, 2048].map { page[$0..<$0 + 512] }
                return slots.max { $0.dropFirst(56).prefix(8).lexicographicallyPrecedes($1.dropFirst(56).prefix(8)) }!
                    .dropFirst(224).prefix(16)
            }
            #expect(try mark() != Data(count: 16))
            _ = try answer(volume, FUSE_FSYNC, file, bytes(of: fuse_fsync_in()))
            #expect(try mark() == Data(count: 16))
        }
    }

    private func setClass(_ volume: Volume, _ node: UInt64, _ protection: FileProtection) throws {
        let value = Data(protection.name.utf8)
        let arguments = bytes(of: UInt32(value.count)) + bytes(of: UInt32(0))
        _ = try answer(volume, FUSE_SETXATTR, node, arguments + Data("user.keychain.class\0".utf8) + value)
    }

    private func protection(_ volume: Volume, _ node: UInt64) throws -> String {
        let arguments = bytes(of: fuse_getxattr_in(size: 100, padding: 0))
        return String(
            decoding: try answer(volume, FUSE_GETXATTR, node, arguments + Data("user.keychain.class\0".utf8)),
            as: UTF8.self)
    }

    @Test func whileLockedAFileOfClassBOpensForNoProgramEvenIfOneHasItOpen() throws {
        try withVolume { volume, _, keychain in
            try keychain.setPasscode("1234")
            try setClass(volume, UInt64(FUSE_ROOT_ID), .completeUnlessOpen)
            let file = try made(volume, "file")
            try write(volume, file, Data("content".utf8))
            try keychain.lock()
            var read = fuse_read_in()
            read.size = 7
            #expect(try answer(volume, FUSE_READ, file, bytes(of: read)) == Data("content".utf8))
            #expect(throws: Refusal(EACCES)) { try answer(volume, FUSE_OPEN, file, bytes(of: fuse_open_in())) }
            try keychain.unlock("1234")
            _ = try answer(volume, FUSE_OPEN, file, bytes(of: fuse_open_in()))
        }
    }

    @Test func aFileThatTakesTheNameOfOneOfAStrongerClassGetsThatClass() throws {
        try withVolume { volume, _, _ in
            let (strong, weak) = (try made(volume, "strong"), try made(volume, "weak"))
            try setClass(volume, strong, .complete)
            let arguments = bytes(of: fuse_rename_in(newdir: UInt64(FUSE_ROOT_ID)))
            _ = try answer(volume, FUSE_RENAME, UInt64(FUSE_ROOT_ID), arguments + Data("weak\0strong\0".utf8))
            #expect(try protection(volume, weak) == FileProtection.complete.name)
        }
    }

    @Test func aListCountsEachNodeThatItNames() throws {
        try withVolume { volume, below, _ in
            for number in 0..<100 { try Data().write(to: below.appendingPathComponent("\(number)")) }
            let root = UInt64(FUSE_ROOT_ID)
            var read = fuse_read_in()
            read.fh = node(try answer(volume, FUSE_OPENDIR, root, bytes(of: fuse_open_in())))
            read.size = 4096
            var names: Set<String> = [], nodes: [UInt64] = []
            while true {
                var list = try answer(volume, FUSE_READDIRPLUS, root, bytes(of: read))
                if list.isEmpty { break }
                #expect(list.count <= 4096)
                while !list.isEmpty {
                    let entry = list.dropFirst(MemoryLayout<fuse_entry_out>.size)
                    let count = Int(entry.dropFirst(16).withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) })
                    read.offset = entry.dropFirst(8).withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
                    names.insert(String(decoding: entry.dropFirst(24).prefix(count), as: UTF8.self))
                    if node(list) != 0 { nodes.append(node(list)) }
                    list = list.dropFirst((MemoryLayout<fuse_entry_out>.size + 24 + count + 7) & ~7)
                }
            }
            #expect(names == Set((0..<100).map { "\($0)" } + [".", ".."]))
            #expect(nodes.count == 100 && volume.nodes.all.count == 101)
            for node in nodes { volume.nodes.forget(node, 1) }
            #expect(volume.nodes.all.count == 1)
            _ = try answer(
                volume, FUSE_RELEASEDIR, root,
                bytes(of: fuse_release_in(fh: read.fh, flags: 0, release_flags: 0, lock_owner: 0)))
            #expect(throws: Refusal(EBADF)) { try answer(volume, FUSE_READDIR, root, bytes(of: read)) }
        }
    }

    @Test func anyRequestsGetAnAnswerOrARefusalAndReachNothingElse() throws {
        try withVolume { volume, below, _ in
            var chance = SeededGenerator()
            let outside = try Set(FileManager.default.contentsOfDirectory(atPath: below.path + "/.."))
            let names = ["a", "b", "../c", "..", "", "a/b", String(repeating: "x", count: 300)]
            for _ in 0..<3_000 {
                var arguments = chance.bytes(chance.below(4) * 8)
                // Numbers that requests really have, small ones above all.
                for index in arguments.indices where chance.below(3) > 0 { arguments[index] = UInt8(chance.below(2)) }
                for _ in 0..<chance.below(3) { arguments += Data(names[chance.below(names.count)].utf8) + [0] }
                arguments += chance.bytes(chance.below(3) * 20)
                let opcode = fuse_opcode(rawValue: UInt32(chance.below(52)))
                // Devices need rights that the test may have.
                if opcode.rawValue == FUSE_MKNOD.rawValue { continue }
                do {
                    _ = try answer(volume, opcode, UInt64(chance.below(12)), arguments)
                } catch let error as Refusal {
                    #expect(error.number > 0, "seed \(chance.seed)")
                }
            }
            #expect(try outside == Set(FileManager.default.contentsOfDirectory(atPath: below.path + "/..")))
        }
    }
}
