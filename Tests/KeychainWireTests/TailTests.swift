import Foundation
import KeychainModel
import KeychainWire
import Testing

/// Secrets go behind the message and nowhere else.
@Suite struct TailTests {
    @Test("No message holds a byte of a secret: all of them are in the tail")
    func needles() throws {
        let frames = try ClientMessageSamples.all.map { try $0.frame() } + DaemonMessageSamples.all.map { $0.frame() }
        var found: Set<String> = []
        for frame in frames {
            for needle in RequestSamples.needles {
                #expect(Data(frame.message).range(of: Data(needle.utf8)) == nil)
                if frame.tailBytes.range(of: Data(needle.utf8)) != nil { found.insert(needle) }
            }
        }
        #expect(found == Set(RequestSamples.needles))
    }

    @Test("The tail has the secrets in the order in which the message speaks of them")
    func order() throws {
        let change = PasscodeRequest.change(old: SecretBytes("old"), new: SecretBytes("new"), rekey: false)
        #expect(try ClientMessage.request(id: 1, .passcode(change)).frame().tailBytes == Data("oldnew".utf8))
        var items = [RequestSamples.item, RequestSamples.item]
        items[0].secret = SecretBytes("1")
        items[0].certificate = SecretBytes("2")
        items[1].secret = SecretBytes("3")
        items[1].certificate = SecretBytes("4")
        #expect(DaemonMessage.reply(id: 1, .found(items), isLast: true).frame().tailBytes == Data("1234".utf8))
    }

    @Test("A secret that is the whole tail is handed on without a copy")
    func noCopy() throws {
        let tail = SecretBytes("secret")
        let frame = try ClientMessage.request(id: 1, .unlock(tail)).frame()
        #expect(frame.secrets.first === tail)
        guard case .request(_, .unlock(let passcode)) = try ClientMessage(message: frame.message, tail: tail) else {
            Issue.record("another request arrived")
            return
        }
        #expect(passcode === tail)
    }

    @Test("A secret that shares the tail with another has memory of its own")
    func copies() throws {
        let tail = SecretBytes("oldnew")
        let change = PasscodeRequest.change(old: SecretBytes("old"), new: SecretBytes("new"), rekey: true)
        let frame = try ClientMessage.request(id: 1, .passcode(change)).frame()
        let arrived = try ClientMessage(message: frame.message, tail: tail)
        guard case .request(_, .passcode(.change(let old, let new, true))) = arrived else {
            Issue.record("another request arrived")
            return
        }
        #expect(old.copyData() == Data("old".utf8) && new.copyData() == Data("new".utf8))
    }

    @Test("A request whose tail is too short, too long or missing is refused, under its id")
    func wrongTails() throws {
        for request in RequestSamples.full {
            let frame = try ClientMessage.request(id: 9, request).frame()
            let whole = frame.tailBytes
            for tail in [Data(), whole.dropLast(), whole + [0]] where tail != whole {
                expectRefusal(.parameter, id: 9) {
                    try ClientMessage(message: frame.message, tail: SecretBytes(copying: tail))
                }
            }
            if !whole.isEmpty {
                expectRefusal(.parameter, id: 9) { try ClientMessage(message: frame.message, tail: nil) }
            }
        }
    }

    @Test("An answer whose tail is too short, too long or missing ends the connection")
    func wrongTailsOfAnswers() {
        for message in DaemonMessageSamples.all {
            let frame = message.frame()
            let whole = frame.tailBytes
            for tail in [Data(), whole.dropLast(), whole + [0]] where tail != whole {
                expectUnreadable { try DaemonMessage(message: frame.message, tail: SecretBytes(copying: tail)) }
            }
        }
    }

    @Test("A hello and a subscription come without secrets")
    func secretsOfNobody() throws {
        let hello = try ClientMessage.hello(ClientHello(groups: [], authority: .groups)).frame()
        expectUnreadable { try ClientMessage(message: hello.message, tail: SecretBytes("s")) }
        let subscription = try ClientMessage.subscribe(id: 3).frame()
        expectRefusal(.parameter, id: 3) {
            try ClientMessage(message: subscription.message, tail: SecretBytes("s"))
        }
    }
}
