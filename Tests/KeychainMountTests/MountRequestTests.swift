import CKeychainFuse
import Foundation
import KeychainTestSupport
import Testing

@testable import KeychainMount

/// The bytes of requests, of lists of directories and of the list of mounts: nothing is taken beyond their end.
@Suite struct MountRequestTests {
    private func request(_ opcode: fuse_opcode, _ arguments: Data, length: Int? = nil) -> Data {
        var header = fuse_in_header()
        header.opcode = opcode.rawValue
        header.len = UInt32(length ?? MemoryLayout<fuse_in_header>.size + arguments.count)
        return withUnsafeBytes(of: header) { Data($0) } + arguments
    }

    @Test func aRequestHasTheLengthThatItsHeaderClaims() {
        func isRequest(_ bytes: Data) -> Bool { bytes.withUnsafeBytes { Request($0) } != nil }
        #expect(isRequest(request(FUSE_LOOKUP, Data("name\0".utf8))))
        #expect(!isRequest(request(FUSE_LOOKUP, Data("name\0".utf8), length: 44)))
        #expect(!isRequest(request(FUSE_LOOKUP, Data("name\0".utf8), length: 46)))
        #expect(!isRequest(Data(request(FUSE_LOOKUP, Data()).prefix(39))))
        #expect(!isRequest(Data()))
    }

    @Test func argumentsAreTakenInTheirOrderAndNotBeyondTheEnd() throws {
        let bytes = request(FUSE_MKDIR, Data([1, 2, 3, 4, 5, 6, 7, 8]) + Data("name\0rest".utf8))
        try bytes.withUnsafeBytes { bytes in
            var request = try #require(Request(bytes))
            #expect(try request.take(UInt32.self) == 0x0403_0201)
            #expect(try request.take(UInt32.self) == 0x0807_0605)
            #expect(String(cString: try request.takeName()) == "name")
            #expect(Data(try request.takeBytes(2)) == Data("re".utf8))
            #expect(throws: Refusal(EINVAL)) { _ = try request.takeBytes(3) }
            #expect(throws: Refusal(EINVAL)) { _ = try request.takeBytes(-1) }
            #expect(throws: Refusal(EINVAL)) { _ = try request.take(UInt32.self) }
            // Without a zero it is no text, and nothing of it is taken.
            #expect(throws: Refusal(EINVAL)) { _ = try request.takeText() }
            #expect(Data(try request.takeBytes(2)) == Data("st".utf8))
        }
    }

    @Test(arguments: ["", ".", "..", "a/b", "/", "../a"])
    func aNameThatLeadsElsewhereIsRefused(_ name: String) throws {
        try request(FUSE_LOOKUP, Data(name.utf8) + [0]).withUnsafeBytes { bytes in
            var request = try #require(Request(bytes))
            #expect(throws: Refusal(EINVAL)) { _ = try request.takeName() }
        }
    }

    @Test func anAnswerIsNotLongerThanItsMemory() throws {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 32, alignment: 8)
        defer { memory.deallocate() }
        var reply = Reply(in: memory)
        try reply.add(UInt64(7))
        reply.add(100)
        #expect(reply.payload == 16)
        // The compiler does not let a value that cannot be copied into a closure.
        do throws(Refusal) {
            try reply.add(UInt8(1))
            Issue.record("there was no room")
        } catch {
            #expect(error == Refusal(ERANGE))
        }
        let whole = Data(reply.finished(5, nil))
        #expect(whole.count == 32 && whole[0] == 32 && whole[8] == 5)
        let refused = Data(reply.finished(5, Refusal(EACCES)))
        #expect(refused.count == 16 && refused[4...7] == Data([0xf3, 0xff, 0xff, 0xff]))
    }

    @Test func entriesOfADirectoryEndWithTheirBytes() {
        func entry(_ name: String, size: UInt16) -> Data {
            var bytes = Data(repeating: 0, count: 18)
            bytes[0] = 9
            bytes[8] = 77
            (bytes[16], bytes[17]) = (UInt8(size & 0xff), UInt8(size >> 8))
            bytes += [4] + Data(name.utf8)
            return bytes + Data(repeating: 0, count: max(0, Int(size) - bytes.count))
        }
        func names(_ bytes: Data) -> [String] {
            bytes.withUnsafeBytes { bytes in DirectoryEntries(bytes).map { String(cString: $0.name) } }
        }
        #expect(names(entry("one", size: 24) + entry("two", size: 32)) == ["one", "two"])
        #expect(names(entry("one", size: 24) + entry("two", size: 32).dropLast()) == ["one"])
        #expect(names(entry("one", size: 22)) == [])  // no zero
        #expect(names(entry("one", size: 0)) == [])
        #expect(names(Data([1, 2, 3])) == [])
    }

    @Test func mountsAreThoseOfThisUserWithTheirNamesAsTheyAre() throws {
        func mount(_ line: String) -> KeychainMounts? { KeychainMounts(line: Array(line.utf8)[...], user: 1000) }
        let options = "rw,user_id=1000,group_id=1000,default_permissions"
        let one = try #require(
            mount(
                #"65 43 0:40 / /home/a\040b/Vault rw,nosuid shared:1 - fuse.keychain /home/a\040b/.v\134\012 "#
                    + options))
        #expect(one.point == "/home/a b/Vault" && one.source == "/home/a b/.v\\\n")
        #expect(one.connection == "40")
        #expect(mount("65 43 0:40 / /m rw - fuse.keychain /d rw,user_id=1001") == nil)
        #expect(mount("65 43 0:40 / /m rw - fuse.other /d \(options)") == nil)
        #expect(mount("65 43 0:40 / /m rw - fuse.keychain") == nil)
        #expect(mount("") == nil)
    }

    @Test func wordsOfTheCommandLine() {
        #expect(MountWords(["a", "b"])?.point == "b")
        #expect(MountWords(["--foreground", "--store", "s", "--", "-a", "b"])?.directory == "-a")
        #expect(MountWords(["--version"])?.isVersion == true)
        for words in [
            [], ["a"], ["a", "b", "c"], ["-x", "a", "b"], ["--store"], ["--report", "x", "a", "b"], ["a", ""],
        ] {
            #expect(MountWords(words) == nil)
        }
    }
}
