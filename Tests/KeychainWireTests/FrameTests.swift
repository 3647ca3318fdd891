import Foundation
import KeychainModel
import KeychainWire
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
