import Foundation
import KeychainModel
import KeychainTestSupport
import Testing

@testable import KeychainWire

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
    func tinyValues(number: Int) throws {
        var message = MessageWriter()
        message.add(1, UInt64(1))
        message.add(ClientMessage.Kind.add.rawValue) {
            $0.add(1, ItemClass.key)
            $0.add(2) {
                if number == 6 {
                    $0.add(number, packed: Array(repeating: SignedNumber(0), count: 1 << 20))
                } else {
                    for _ in 0..<(1 << 20) { $0.add(number, ifAny: "") }
                }
            }
        }
        let flaw = #expect(throws: WireFlaw.self) { try ClientMessage(message: message.bytes, tail: nil) }
        guard case .badRequest(1, let error)? = flaw else {
            Issue.record("it is not refused by itself")
            return
        }
        #expect(error.message.contains("more than \(AttributeSet.mostInMessage) attributes"))
    }

    @Test("Random bytes are refused or understood, and nothing worse")
    func randomBytes() {
        var generator = SeededGenerator()
        for _ in 0..<5_000 {
            read(generator.bytes(generator.below(64)), SecretBytes(copying: generator.bytes(generator.below(8))))
        }
    }

    /// What is understood can be said again, and is the same then.
    private func read(_ message: some ContiguousBytes, _ tail: SecretBytes?) {
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
