import Foundation
import KeychainModel
import KeychainTestSupport
import Testing

/// Bytes that nobody meant as a message. The process that reads them goes on.
@Suite struct HostileBytesTests {
    private let frames: [WireFrame]

    init() throws {
        frames = try ClientMessageSamples.all.map { try $0.frame() } + DaemonMessageSamples.all.map { $0.frame() }
    }

    @Test("Messages cut short anywhere are refused or understood, and nothing worse")
    func cutShort() {
        for frame in frames {
            for count in 0..<frame.message.count { read(frame.message.prefix(count), frame.tail) }
        }
    }

    @Test("Messages with any byte changed are refused or understood, and nothing worse")
    func changedBytes() {
        var generator = SeededGenerator()
        for frame in frames {
            for place in frame.message.indices {
                for byte in [0xff, UInt8(truncatingIfNeeded: generator.next())] {
                    var message = frame.message
                    message[place] = byte
                    read(message, frame.tail)
                }
            }
        }
    }

    @Test("A message of so many tiny values that they would take many times its size is refused", arguments: [2, 4, 6])
    func tinyValues(field number: UInt64) throws {
        func field(_ number: UInt64, _ content: Data) -> Data {
            var length = content.count
            var data = Data([UInt8(number << 3 | 2)])
            while length > 0x7f {
                data.append(UInt8(length & 0x7f | 0x80))
                length >>= 7
            }
            return data + [UInt8(length)] + content
        }
        let tag = UInt8(number << 3 | 2)
        let values =
            number == 6
            ? field(6, Data(repeating: 0, count: 1 << 20))
            : (0..<20).reduce(Data([tag, 0])) { values, _ in values + values }
        // ClientMessage.id, ClientMessage.add, Add.attributes
        let message = Data([8, 1]) + field(4, field(2, values))
        let flaw = #expect(throws: WireFlaw.self) { try ClientMessage(message: message, tail: nil) }
        guard case .unreadable(let text)? = flaw else {
            Issue.record("it is not refused before it is decoded")
            return
        }
        #expect(text.contains("values of attributes"))
    }

    @Test("Random bytes are refused or understood, and nothing worse")
    func randomBytes() {
        var generator = SeededGenerator()
        for _ in 0..<5_000 {
            read(generator.bytes(generator.below(64)), SecretBytes(copying: generator.bytes(generator.below(8))))
        }
    }

    /// What is understood can be said again, and is the same then.
    private func read(_ message: Data, _ tail: SecretBytes?) {
        if let frame = try? ClientMessage(message: message, tail: tail).frame() {
            let again = try? ClientMessage(message: frame.message, tail: frame.tail).frame()
            #expect(again?.message == frame.message && again?.tailBytes == frame.tailBytes)
        }
        if let frame = try? DaemonMessage(message: message, tail: tail).frame() {
            let again = try? DaemonMessage(message: frame.message, tail: frame.tail).frame()
            #expect(again?.message == frame.message && again?.tailBytes == frame.tailBytes)
        }
    }
}
