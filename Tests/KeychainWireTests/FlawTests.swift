import Foundation
import KeychainModel
import Testing

@testable import KeychainWire

/// What a client can get wrong, by mistake or on purpose. What the engine relies on must not get past the decoder.
@Suite struct FlawTests {
    @Test("A request that is not known is answered, with the status of what is not implemented")
    func unknownRequest() throws {
        let message = encoded {
            $0.add(1, UInt64(5))
            $0.add(900)
        }
        expectRefusal(.unimplemented, id: 5) { try ClientMessage(message: message, tail: nil) }
        expectRefusal(.unimplemented, id: 5) { try ClientMessage(message: message, tail: SecretBytes("s")) }
    }

    @Test("Fields that are not known are passed over, also kinds of another type than is known")
    func unknownFields() throws {
        let message = encoded {
            $0.add(1, UInt64(5))
            $0.add(2, UInt64(1))
            $0.add(ClientMessage.Kind.status.rawValue)
            $0.add(900, "a")
            $0.add(901, UInt64(1))
            $0.add(902, 1.0)
        }
        guard case .request(5, .status) = try ClientMessage(message: message, tail: nil) else {
            Issue.record("another request arrived")
            return
        }
    }

    @Test("Of a field that comes twice the last one counts, in any order of fields")
    func lastValue() throws {
        let message = encoded {
            $0.add(ClientMessage.Kind.check.rawValue)
            $0.add(ClientMessage.Kind.find.rawValue) {
                $0.add(13, true)
                $0.add(3, "first")
                $0.add(1, ItemClass.key)
                $0.add(3, "last")
                $0.add(10, true)
                $0.add(11, ifAny: UInt64(3))
            }
            $0.add(1, UInt64(4))
            $0.add(1, UInt64(5))
        }
        guard case .request(5, .find(let find)) = try ClientMessage(message: message, tail: nil) else {
            Issue.record("another request arrived")
            return
        }
        #expect(find.query.accessGroup == "last" && find.wantsSecrets && find.query.limit == .atMost(3))
    }

    @Test("A list of numbers may come in pieces, in one or alone")
    func packing() throws {
        func imported(_ write: (inout MessageWriter) -> Void) throws -> [ImportOutcome]? {
            let message = encoded {
                $0.add(1, UInt64(5))
                $0.add(DaemonMessage.Kind.imported.rawValue, write)
            }
            guard case .reply(5, .imported(let outcomes), true) = try DaemonMessage(message: message, tail: nil) else {
                return nil
            }
            return outcomes
        }
        let expected: [ImportOutcome] = [.added, .kept, .refused]
        #expect(try imported { $0.add(1, packed: expected) } == expected)
        #expect(try imported { for number in [1, 3, 5] as [UInt64] { $0.add(1, number) } } == expected)
        #expect(
            try imported {
                $0.add(1, packed: expected.dropLast())
                $0.add(1, UInt64(5))
            } == expected)
    }

    @Test("Bytes that are no fields end the connection, or are refused within a request")
    func noFields() throws {
        let flaws: [[UInt8]] = [
            [0x08], [0x80], [0x00, 0x01], [0x0b], [0x0c], [0x0e, 0x01], [0x0f, 0x01], [0x0d, 1, 2, 3],
            [0x09, 1, 2, 3, 4, 5, 6, 7],
            [0x12, 0x02, 0x61], [0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
            [0x08] + Array(repeating: 0x80, count: 10) + [0],
            [0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02],
            [0x82, 0x80, 0x80, 0x80, 0x80, 0x01, 0x00],
        ]
        for flaw in flaws {
            expectUnreadable { try ClientMessage(message: flaw, tail: nil) }
            expectUnreadable { try DaemonMessage(message: flaw, tail: nil) }
            try expectAnswer(.parameter, .delete) {
                $0.add(1, ItemClass.key)
                $0.bytes(flaw)
            }
        }
        try expectAnswer(.parameter, .delete) {
            $0.add(1, ItemClass.key)
            $0.add(3, Data([0xff]))
        }
    }

    @Test("A message of no known kind, or under no id, is not readable")
    func unreadable() throws {
        func item(_ message: inout MessageWriter) {
            message.add(3) {
                $0.add(1, ItemClass.key)
                $0.add(2, Data(count: 16))
                $0.add(6, Protection.always)
            }
        }
        expectUnreadable { try ClientMessage(message: Data(), tail: nil) }
        expectUnreadable { try DaemonMessage(message: Data(), tail: nil) }
        expectUnreadable { try ClientMessage.request(id: 0, .status).arrived() }
        expectUnreadable { try ClientMessage.subscribe(id: 0).arrived() }
        expectUnreadable { try DaemonMessage.reply(id: 0, .done, isLast: true).arrived() }
        expectUnreadable { try DaemonMessage.failure(id: 0, KeychainError(.decode, message: "")).arrived() }
        expectUnreadable { try DaemonMessage.event(id: 0, .items(.key, accessGroup: "")).arrived() }
        let messages: [(inout MessageWriter) -> Void] = [
            { _ in },
            { $0.add(DaemonMessage.Kind.goodbye.rawValue) },
            { $0.add(DaemonMessage.Kind.welcome.rawValue) { $0.add(1, UInt64(1)) } },
            { $0.add(DaemonMessage.Kind.failure.rawValue) { $0.add(2, "no status") } },
            { $0.add(DaemonMessage.Kind.itemEvent.rawValue) { $0.add(2, "a") } },
            { $0.add(DaemonMessage.Kind.added.rawValue) },
            {
                item(&$0)
                $0.add(DaemonMessage.Kind.done.rawValue)
            },
            {
                item(&$0)
                item(&$0)
                $0.add(DaemonMessage.Kind.added.rawValue)
            },
        ]
        for write in messages {
            let message = encoded {
                $0.add(1, UInt64(1))
                write(&$0)
            }
            expectUnreadable { try DaemonMessage(message: message, tail: nil) }
        }
        expectUnreadable {
            try DaemonMessage(message: encoded { $0.add(DaemonMessage.Kind.found.rawValue) }, tail: nil)
        }
    }

    @Test("A failure with the status of a success is none")
    func success() {
        expectUnreadable { try DaemonMessage.failure(id: 1, KeychainError(.init(status: 0), message: "")).arrived() }
        // Of 32 bits nothing but zeros is left.
        let beyond = encoded {
            $0.add(1, UInt64(1))
            $0.add(DaemonMessage.Kind.failure.rawValue) { $0.add(1, SignedNumber(1 << 32)) }
        }
        expectUnreadable { try DaemonMessage(message: beyond, tail: nil) }
    }

    @Test("An authority that is not known, an empty group and too many groups are no hello")
    func hellos() throws {
        expectUnreadable { try ClientMessage.hello(ClientHello(groups: ["a", ""], authority: .groups)).arrived() }
        let groups = (0..<ClientHello.mostGroups).map { "\($0)" }
        _ = try ClientMessage.hello(ClientHello(groups: groups, authority: .groups)).arrived()
        expectUnreadable { try ClientMessage.hello(ClientHello(groups: groups + ["a"], authority: .groups)).arrived() }
        let message = encoded { $0.add(ClientMessage.Kind.hello.rawValue) { $0.add(3, UInt64(2)) } }
        expectUnreadable { try ClientMessage(message: message, tail: nil) }
    }

    @Test("Numbers that stand for nothing are refused")
    func numbers() throws {
        try expectAnswer(.parameter, .add) { _ in }
        for number in [0, 6, .max] as [UInt64] {
            try expectAnswer(.parameter, .add) { $0.add(1, ifAny: number) }
            try expectAnswer(.parameter, .delete) { $0.add(1, ifAny: number) }
        }
        for protection in [0, 5, 13, 256 + 6] as [UInt64] {
            for (kind, number) in [(ClientMessage.Kind.add, 5), (.delete, 4)] {
                try expectAnswer(.parameter, kind) {
                    $0.add(1, ItemClass.key)
                    $0.add(number, ifAny: protection)
                }
            }
            try expectAnswer(.parameter, .update) {
                $0.add(1) { $0.add(1, ItemClass.key) }
                $0.add(2) { $0.add(4, ifAny: protection) }
            }
        }
        for number in [7, 12] {
            try expectAnswer(.parameter, .delete) {
                $0.add(1, ItemClass.key)
                $0.add(number, UInt64(3))
            }
        }
    }

    @Test("Flags of an access control that exclude each other, or stand alone, are refused")
    func flags() throws {
        for flags in [1 << 2, 1 << 14 | 1 << 15, 1 << 1 | 1 << 3, .max] as [UInt32] {
            try expectAnswer(.parameter, .add) {
                $0.add(1, ItemClass.key)
                $0.add(5, Protection.always)
                $0.add(6, flags)
            }
        }
        try expectAnswer(.parameter, .add) {
            $0.add(1, ItemClass.key)
            $0.add(6, UInt32(1))
        }
        try expectAnswer(.parameter, .importItems) {
            $0.item { $0.add(7, UInt32(4)) }
        }
    }

    @Test("Attributes that the class does not have, or in a form that it does not have, are refused")
    func attributes() throws {
        try expectAnswer(.noSuchAttribute, .add) { $0.password { $0.set(.server, "s") } }
        try expectAnswer(.noSuchAttribute, .add) { $0.password { $0.set(.accessGroup, "s") } }
        try expectAnswer(.noSuchAttribute, .add) { $0.password { $0.set(Attribute(rawValue: 0x1b5b_324a), "s") } }
        try expectAnswer(.parameter, .add) {
            $0.password {
                $0.add(7, packed: [AttributeCode(.label)])
                $0.add(8, packed: [1.0])
            }
        }
        try expectAnswer(.parameter, .add) {
            $0.password {
                $0.add(3, packed: [AttributeCode(.viewHint)])
                $0.add(4, Data([0xff]))
            }
        }
        // The engine would store both, and look for one of them.
        try expectAnswer(.parameter, .add) {
            $0.password {
                $0.set(.label, "a")
                $0.set(.label, "b")
            }
        }
        try expectAnswer(.parameter, .add) {
            $0.password {
                $0.set(.label, "a")
                $0.add(5, packed: [AttributeCode(.label)])
                $0.add(6, packed: [SignedNumber(1)])
            }
        }
        try expectAnswer(.parameter, .add) { $0.password { $0.add(1, packed: [AttributeCode(.label)]) } }
        try expectAnswer(.parameter, .add) { $0.password { $0.add(8, packed: [1.0]) } }
        try expectAnswer(.parameter, .delete) {
            $0.add(1, ItemClass.key)
            $0.add(2) { $0.add(6, packed: [SignedNumber(1)]) }
        }
    }

    @Test("Values come in the form that their attributes have, as from a dictionary of SecItem functions")
    func coercion() throws {
        let message = encoded {
            $0.add(1, UInt64(1))
            $0.add(ClientMessage.Kind.add.rawValue) {
                $0.add(1, ItemClass.internetPassword)
                $0.add(2) {
                    $0.set(.port, "443")
                    $0.add(3, packed: [AttributeCode(.viewHint)])
                    $0.add(4, Data("hint".utf8))
                }
            }
        }
        guard case .request(_, .add(let add)) = try ClientMessage(message: message, tail: nil) else {
            Issue.record("another request arrived")
            return
        }
        #expect(add.attributes[.port] == .number(443))
        #expect(add.attributes[.viewHint] == .text("hint"))
    }

    @Test("What is no moment is refused in requests")
    func dates() throws {
        for date in [Double.nan, .infinity, -.infinity] {
            for (kind, number) in [(ClientMessage.Kind.delete, 5), (.find, 6)] {
                try expectAnswer(.parameter, kind) {
                    $0.add(1, ItemClass.key)
                    $0.add(number, date)
                }
            }
            try expectAnswer(.parameter, .update) {
                $0.add(1) { $0.add(1, ItemClass.key) }
                $0.add(2) { $0.add(6, date) }
            }
            try expectAnswer(.parameter, .add) {
                $0.add(1, ItemClass.key)
                $0.add(2) {
                    $0.add(7, packed: [AttributeCode(.startDate)])
                    $0.add(8, packed: [date])
                }
            }
        }
    }

    @Test("An item that no keychain can have exported comes through, to be refused by itself")
    func flawedImports() throws {
        var item = RequestSamples.bareItem
        item.created = .nan
        item.itemClass = .identity
        item.attributes.append(.label, .text("a"))
        item.attributes.append(.label, .text("b"))
        let message = ClientMessage.request(id: 1, .importItems(ImportRequest([item])))
        guard case .request(_, .importItems(let request)) = try message.arrived() else {
            Issue.record("another request arrived")
            return
        }
        #expect(request.items.count == 1 && request.items[0].flaw != nil)
    }

    @Test("Odds and ends that an engine could not deal with are refused")
    func others() throws {
        try expectAnswer(.parameter, .add) { $0.add(1, ItemClass.identity) }
        try expectAnswer(.parameter, .delete) {
            $0.add(1, ItemClass.key)
            $0.add(11, Int64(-1))
        }
        try expectAnswer(.parameter, .delete) {
            $0.add(1, ItemClass.key)
            $0.add(8, Data(count: 12))
        }
        try expectAnswer(.parameter, .importItems) { $0.item { $0.add(2, Data(count: 15)) } }
        try expectAnswer(.parameter, .endTicket) { $0.add(1, Data(count: 15)) }
        for limit in [Int64.min, -1, 0, 366 * 24 * 3600 + 1, .max] {
            try expectAnswer(.parameter, .setPolicy) {
                $0.add(1, ifAny: limit)
                $0.add(3, ifAny: UInt64(0))
            }
        }
        for time in [Int64.min, -1, 86_401, .max] {
            try expectAnswer(.parameter, .setPolicy) {
                $0.add(3, ifAny: UInt64(0))
                $0.add(4, ifAny: time)
            }
        }
    }

    @Test("A file's key of another size, for a class that is none, or without an id is refused")
    func fileKeys() throws {
        // A field that comes again takes the place of the one before.
        let flaws: [(inout MessageWriter) -> Void] = [
            { $0.add(1, Data(count: 15)) }, { $0.add(2, ifAny: Data()) }, { $0.add(3, ifAny: UInt64(0)) },
            { $0.add(3, UInt64(5)) }, { $0.add(3, FileClass.complete) }, { $0.add(5, ifAny: Data()) },
            { $0.add(5, Data(count: 33)) }, { $0.add(6, Data(count: 39)) }, { $0.add(6, Data(count: 41)) },
        ]
        for flaw in flaws {
            func flawed(_ message: inout MessageWriter) {
                RequestSamples.wrappedFileKey.write(to: &message)
                flaw(&message)
            }
            try expectAnswer(.parameter, .openFileKey, flawed)
            try expectAnswer(.parameter, .rewrapFileKey) {
                $0.add(1, flawed)
                $0.add(2, FileClass.always)
            }
        }
        try expectAnswer(.parameter, .openFileKey) { _ in }
        try expectAnswer(.parameter, .rewrapFileKey) { $0.add(1, message: RequestSamples.wrappedFileKey) }
        try expectAnswer(.parameter, .rewrapFileKey) { $0.add(2, FileClass.always) }
        try expectAnswer(.parameter, .makeFileKey) { $0.add(1, FileClass.always) }
        try expectAnswer(.parameter, .makeFileKey) { $0.add(2, Data(count: 16)) }
        try expectAnswer(.parameter, .makeFileKey) {
            $0.add(1, FileClass.always)
            $0.add(2, Data(count: 17))
        }
    }

    @Test("A key to be adopted of another size, for no class or no file, or a backup key of other sizes is refused")
    func adoptedKeys() throws {
        func adopt(_ size: Int?, _ fileClass: UInt64, _ idSize: Int) throws {
            try expectAnswer(.parameter, .adoptFileKey, tail: size) {
                $0.add(1, ifAny: size.map { UInt64($0) })
                $0.add(2, fileClass)
                $0.add(3, Data(count: idSize))
            }
        }
        func backUp(_ size: Int?, headerSize: Int) throws {
            try expectAnswer(.parameter, .backUpFileKeys, tail: size) {
                $0.add(1, Data(count: headerSize))
                $0.add(2, ifAny: size.map { UInt64($0) })
            }
        }
        for size in [nil, 0, 31, 33] {
            try adopt(size, FileClass.always.wireNumber, 16)
            try backUp(size, headerSize: 83)
        }
        for size in [0, 15, 17] { try adopt(32, FileClass.always.wireNumber, size) }
        for fileClass in [0, 6] as [UInt64] { try adopt(32, fileClass, 16) }
        for size in [0, 82, 84] { try backUp(32, headerSize: size) }
    }

    @Test("An answer whose file key has another size than a key has is none")
    func answeredFileKeys() throws {
        for key in ["", "31 bytes, which is one too few .", "33 bytes, which is one too many .."] {
            let answer = FileKey(wrapped: RequestSamples.wrappedFileKey, key: SecretBytes(String(key.dropLast())))
            expectUnreadable { try DaemonMessage.reply(id: 1, .fileKey(answer), isLast: true).arrived() }
        }
        let without = encoded {
            $0.add(1, UInt64(1))
            $0.add(DaemonMessage.Kind.fileKey.rawValue) { $0.add(1, message: RequestSamples.wrappedFileKey) }
        }
        expectUnreadable { try DaemonMessage(message: without, tail: nil) }
    }

    @Test("A passcode that is not there is none, and not an empty one")
    func passcodes() throws {
        for kind in [ClientMessage.Kind.unlock, .setPasscode, .changePasscode, .removePasscode, .setPolicy] {
            try expectAnswer(.parameter, kind) { _ in }
        }
        for number in 1...2 { try expectAnswer(.parameter, .changePasscode) { $0.add(number, ifAny: UInt64(0)) } }
    }

    @Test("Sizes of secrets that no memory has are refused")
    func sizes() throws {
        for size in [1, .max, UInt64(Int.max), UInt64(Int.max) + 1] {
            try expectAnswer(.parameter, .unlock) { $0.add(1, size) }
            try expectAnswer(.parameter, .changePasscode) {
                $0.add(1, size)
                $0.add(2, size)
            }
        }
    }

    @Test("Of a proof before and behind the request that it is for, the secrets are in the order of the fields")
    func orderOfSecrets() throws {
        let proof = AuthenticationProof(passcode: SecretBytes("of the proof"))
        let key = SecretBytes(String(repeating: "k", count: 32))
        let adopt = Request.fileKey(.adopt(key, .complete, fileID: RequestSamples.identifier))
        var add = AddRequest(.key)
        add.secret = SecretBytes("of the item")
        for (request, tail) in [
            (adopt, "of the proof" + String(repeating: "k", count: 32)), (.add(add), "of the item" + "of the proof"),
        ] {
            let frame = try ClientMessage.request(id: 1, .authenticated(proof, request)).frame()
            #expect(frame.tailBytes == Data(tail.utf8))
            guard
                case .request(_, .authenticated(let arrived, _)) = try ClientMessage(
                    message: frame.message, tail: frame.tail)
            else {
                Issue.record("another request arrived")
                return
            }
            #expect(arrived.passcode?.copyData() == Data("of the proof".utf8))
        }
    }

    @Test("Too many items are refused, each for itself and in two pieces of a list")
    func manyItems() throws {
        func message(_ count: Int) -> [UInt8] {
            encoded {
                $0.add(1, UInt64(77))
                $0.add(ClientMessage.Kind.importItems.rawValue) { for _ in 0..<count { $0.item { _ in } } }
            }
        }
        _ = try ClientMessage(message: message(ImportRequest.mostItems), tail: nil)
        expectRefusal(.parameter, id: 77) {
            try ClientMessage(message: message(ImportRequest.mostItems + 1), tail: nil)
        }
    }

    @Test("Counts of an answer that could not be reckoned with are refused")
    func counts() throws {
        for count in [-1, .min, .max] as [Int64] {
            for (kind, number) in [(DaemonMessage.Kind.rekeyed, 2), (.exported, 3), (.deleted, 1)] {
                let message = encoded {
                    $0.add(1, UInt64(1))
                    $0.add(kind.rawValue) { $0.add(number, count) }
                }
                expectUnreadable { try DaemonMessage(message: message, tail: nil) }
            }
        }
        var lock = ReplySamples.lock
        lock.secondsUntilNextAttempt = .nan
        expectUnreadable { try DaemonMessage.reply(id: 1, .lockStatus(lock), isLast: true).arrived() }
    }

    /// Expects that a request is refused by itself.
    ///
    /// - Parameter tail: How many bytes come behind it; nil: there is no tail.
    private func expectAnswer(
        _ code: KeychainError.Code, _ kind: ClientMessage.Kind, tail: Int? = nil,
        sourceLocation: SourceLocation = #_sourceLocation, _ write: (inout MessageWriter) -> Void
    ) throws {
        let message = encoded {
            $0.add(1, UInt64(77))
            $0.add(kind.rawValue, write)
        }
        expectRefusal(code, id: 77, sourceLocation: sourceLocation) {
            try ClientMessage(message: message, tail: tail.map { SecretBytes(copying: Data(count: $0)) })
        }
    }
}

private func encoded(_ write: (inout MessageWriter) -> Void) -> [UInt8] {
    var message = MessageWriter()
    write(&message)
    return message.bytes
}

extension MessageWriter {
    /// Anything at all.
    fileprivate mutating func bytes(_ bytes: [UInt8]) {
        for byte in bytes { append(byte) }
    }

    /// The fields of an addition.
    fileprivate mutating func password(_ attributes: (inout MessageWriter) -> Void) {
        add(1, ItemClass.genericPassword)
        add(2, attributes)
    }

    /// An item of an import, with what is written besides.
    fileprivate mutating func item(_ write: (inout MessageWriter) -> Void) {
        add(1) {
            $0.add(1, ItemClass.key)
            $0.add(2, Data(count: 16))
            $0.add(6, Protection.always)
            write(&$0)
        }
    }

    /// A text among attributes.
    fileprivate mutating func set(_ attribute: Attribute, _ text: String) {
        add(1, packed: [AttributeCode(attribute)])
        add(2, text)
    }
}
