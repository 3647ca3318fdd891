import Dispatch
import Foundation
import Glibc
import KeychainModel
import KeychainWire
import Synchronization
import Testing

@Suite struct FrameTests {
    @Test("A header is two numbers of four bytes, the highest byte first")
    func header() {
        let header = WireHeader(messageCount: 0x0102_0304, tailCount: 0xfffe_fdfc)
        var bytes = [UInt8](repeating: 0, count: WireHeader.byteCount)
        bytes.withUnsafeMutableBytes { header.write(to: $0) }
        #expect(bytes == [1, 2, 3, 4, 0xff, 0xfe, 0xfd, 0xfc])
        #expect(bytes.withUnsafeBytes { WireHeader($0) } == header)
    }

    @Test("A header counts the message and all of its secrets")
    func counts() {
        let frame = WireFrame(message: [0, 0, 0], secrets: [SecretBytes("ab"), SecretBytes(""), SecretBytes("c")])
        #expect(frame.header == WireHeader(messageCount: 3, tailCount: 3))
    }
}

@Suite struct FrameSendingTests {
    /// What comes out of a socket after a frame went in, and what its sender was told meanwhile.
    private func send(_ frame: WireFrame) throws -> (bytes: Data, told: [Int]) {
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let (sender, receiver) = (ends[0], ends[1])
        let received = Mutex(Data())
        let isOver = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while case let count = recv(receiver, &buffer, buffer.count, 0), count > 0 {
                received.withLock { $0 += buffer.prefix(count) }
            }
            isOver.signal()
        }
        var told: [Int] = []
        #expect(frame.send(over: sender) { told.append($0) } == 0)
        close(sender)
        isOver.wait()
        close(receiver)
        return (received.withLock { $0 }, told)
    }

    @Test(
        "A frame arrives as it is, and of a large one its sender hears how far it has come",
        arguments: [[0], [5, 0, 7], [3 << 20], [1 << 19, 1 << 19, 1 << 19, 1], [1, 5 << 20, 0, 1 << 20, 3]])
    func sizes(counts: [Int]) throws {
        let secrets = counts.enumerated().map { number, count in
            SecretBytes(count: count) { $0.initializeMemory(as: UInt8.self, repeating: UInt8(number + 1)) }
        }
        let frame = WireFrame(message: Array("message".utf8), secrets: secrets)
        let (bytes, told) = try send(frame)
        var expected = Data(count: WireHeader.byteCount)
        expected.withUnsafeMutableBytes { frame.header.write(to: $0) }
        expected += frame.message
        for secret in secrets { expected += secret.copyData() }
        #expect(bytes == expected)
        #expect(told.reduce(0, +) == expected.count)
        #expect(told.allSatisfy { $0 <= 1 << 20 })
    }

    @Test("A frame of a thousand parts and more arrives")
    func parts() throws {
        let secrets = (0..<3_000).map { number in
            SecretBytes(count: number % 3) { $0.initializeMemory(as: UInt8.self, repeating: UInt8(number % 251)) }
        }
        let (bytes, _) = try send(WireFrame(message: [1], secrets: secrets))
        let expected = secrets.reduce(into: Data()) { $0 += $1.copyData() }
        #expect(bytes.dropFirst(WireHeader.byteCount + 1) == expected)
    }
}
