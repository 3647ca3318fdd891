import Foundation
import SwiftProtobuf
import Testing

@testable import KeychainModel

/// What a client can get wrong, by mistake or on purpose. What the engine relies on must not get past the decoder.
@Suite struct FlawTests {
    @Test("A request that is not known is answered, with the status of what is not implemented")
    func unknownRequest() throws {
        // Field 900, which is none, holds an empty message.
        let unknown = WireClientMessage.with { $0.id = 5 }
        let message = try (unknown.serializedBytes() as Data) + Data([0xa2, 0x38, 0x00])
        expectRefusal(.unimplemented, id: 5) { try ClientMessage(message: message, tail: nil) }
        expectRefusal(.unimplemented, id: 5) { try ClientMessage(message: message, tail: SecretBytes("s")) }
    }

    @Test("Fields that are not known are passed over")
    func unknownFields() throws {
        let known =
            try WireClientMessage.with {
                $0.id = 5; $0.status = WireNothing()
            }.serializedBytes() as Data
        let message = try ClientMessage(message: known + Data([0xa2, 0x38, 0x01, 0x61]), tail: nil)
        guard case .request(5, .status) = message else {
            Issue.record("another request arrived")
            return
        }
    }

    @Test("A message of no known kind, or under no id, is not readable")
    func unreadable() throws {
        let item = WireItem.with {
            $0.itemClass = .key; $0.identifier = Data(count: 16); $0.protection = .always
        }
        expectUnreadable { try ClientMessage(message: Data(), tail: nil) }
        expectUnreadable { try DaemonMessage(message: Data(), tail: nil) }
        expectUnreadable { try ClientMessage.request(id: 0, .status).arrived() }
        expectUnreadable { try ClientMessage.subscribe(id: 0).arrived() }
        expectUnreadable { try DaemonMessage.reply(id: 0, .done, isLast: true).arrived() }
        expectUnreadable { try DaemonMessage.failure(id: 0, KeychainError(.decode, message: "")).arrived() }
        expectUnreadable { try DaemonMessage.event(id: 0, .items(.key, accessGroup: "")).arrived() }
        for message in [
            WireDaemonMessage.with { $0.id = 1 }, .with { $0.goodbye.message = "" }, .with { $0.welcome.version = 1 },
            .with {
                $0.id = 1; $0.failure.message = "no status"
            },
            .with {
                $0.id = 1; $0.itemEvent.accessGroup = "a"
            },
            .with {
                $0.id = 1; $0.added = WireNothing()
            },
            .with {
                $0.id = 1; $0.done = WireNothing(); $0.items = [item]
            },
            .with {
                $0.id = 1; $0.added = WireNothing(); $0.items = [item, item]
            }, .with { $0.found = WireNothing() },
        ] {
            expectUnreadable { try DaemonMessage(message: message.serializedBytes(), tail: nil) }
        }
    }

    @Test("A failure with the status of a success is none")
    func success() {
        expectUnreadable { try DaemonMessage.failure(id: 1, KeychainError(.init(status: 0), message: "")).arrived() }
    }

    @Test("An authority that is not known, an empty group and too many groups are no hello")
    func hellos() throws {
        expectUnreadable { try ClientMessage.hello(ClientHello(groups: ["a", ""], authority: .groups)).arrived() }
        let groups = (0..<ClientHello.mostGroups).map { "\($0)" }
        _ = try ClientMessage.hello(ClientHello(groups: groups, authority: .groups)).arrived()
        expectUnreadable { try ClientMessage.hello(ClientHello(groups: groups + ["a"], authority: .groups)).arrived() }
        let message = try WireClientMessage.with { $0.hello.authority = .UNRECOGNIZED(2) }.serializedBytes() as Data
        expectUnreadable { try ClientMessage(message: message, tail: nil) }
    }

    @Test("Numbers that stand for nothing are refused")
    func numbers() throws {
        try expectAnswer(.parameter) { $0.add.itemClass = .unspecified }
        try expectAnswer(.parameter) { $0.add.itemClass = .UNRECOGNIZED(6) }
        try expectAnswer(.parameter) { $0.delete = .with { $0.itemClass = .UNRECOGNIZED(-1) } }
        for protection in [.unspecified, .UNRECOGNIZED(5), .UNRECOGNIZED(256 + 6)] as [WireProtection] {
            try expectAnswer(.parameter) {
                $0.add = .with {
                    $0.itemClass = .key; $0.protection = protection
                }
            }
            try expectAnswer(.parameter) {
                $0.delete = .with {
                    $0.itemClass = .key; $0.protection = protection
                }
            }
            try expectAnswer(.parameter) {
                $0.update.query.itemClass = .key
                $0.update.changes.protection = protection
            }
        }
        try expectAnswer(.parameter) {
            $0.delete = .with {
                $0.itemClass = .key; $0.synchronizable = .UNRECOGNIZED(3)
            }
        }
        try expectAnswer(.parameter) {
            $0.delete = .with {
                $0.itemClass = .key; $0.authenticationUi = .UNRECOGNIZED(3)
            }
        }
    }

    @Test("Flags of an access control that exclude each other, or stand alone, are refused")
    func flags() throws {
        for flags in [1 << 2, 1 << 14 | 1 << 15, 1 << 1 | 1 << 3, .max] as [UInt32] {
            try expectAnswer(.parameter) {
                $0.add = .with {
                    $0.itemClass = .key; $0.protection = .always; $0.accessFlags = flags
                }
            }
        }
        try expectAnswer(.parameter) {
            $0.add = .with {
                $0.itemClass = .key; $0.accessFlags = 1
            }
        }
        try expectAnswer(.parameter) {
            $0.importItems.items = [
                .with {
                    $0.itemClass = .key; $0.identifier = Data(count: 16); $0.protection = .always; $0.accessFlags = 4
                }
            ]
        }
    }

    @Test("Attributes that the class does not have, or in a form that it does not have, are refused")
    func attributes() throws {
        try expectAnswer(.noSuchAttribute) { $0.add = .password { $0.set(.server, "s") } }
        try expectAnswer(.noSuchAttribute) { $0.add = .password { $0.set(.accessGroup, "s") } }
        try expectAnswer(.noSuchAttribute) { $0.add = .password { $0.set(Attribute(rawValue: 0x1b5b_324a), "s") } }
        try expectAnswer(.parameter) {
            $0.add = .password {
                $0.dateCodes = [Attribute.label.rawValue]; $0.dates = [1]
            }
        }
        try expectAnswer(.parameter) {
            $0.add = .password {
                $0.dataCodes = [Attribute.viewHint.rawValue]; $0.datas = [Data([0xff])]
            }
        }
        // The engine would store both, and look for one of them.
        try expectAnswer(.parameter) {
            $0.add = .password {
                $0.set(.label, "a"); $0.set(.label, "b")
            }
        }
        try expectAnswer(.parameter) {
            $0.add = .password {
                $0.set(.label, "a")
                $0.numberCodes = [Attribute.label.rawValue]
                $0.numbers = [1]
            }
        }
        try expectAnswer(.parameter) { $0.add = .password { $0.textCodes = [Attribute.label.rawValue] } }
        try expectAnswer(.parameter) { $0.add = .password { $0.dates = [1] } }
        try expectAnswer(.parameter) {
            $0.delete = .with {
                $0.itemClass = .key; $0.attributes.numbers = [1]
            }
        }
    }

    @Test("Values come in the form that their attributes have, as from a dictionary of SecItem functions")
    func coercion() throws {
        let request = WireClientMessage.with {
            $0.id = 1
            $0.add.itemClass = .internetPassword
            $0.add.attributes.set(.port, "443")
            $0.add.attributes.dataCodes = [Attribute.viewHint.rawValue]
            $0.add.attributes.datas = [Data("hint".utf8)]
        }
        guard
            case .request(_, .add(let add)) = try ClientMessage(message: request.serializedBytes(), tail: nil)
        else {
            Issue.record("another request arrived")
            return
        }
        #expect(add.attributes[.port] == .number(443))
        #expect(add.attributes[.viewHint] == .text("hint"))
    }

    @Test("What is no moment is refused in requests")
    func dates() throws {
        for date in [Double.nan, .infinity, -.infinity] {
            try expectAnswer(.parameter) {
                $0.delete = .with {
                    $0.itemClass = .key; $0.created = date
                }
            }
            try expectAnswer(.parameter) {
                $0.find = .with {
                    $0.itemClass = .key; $0.modified = date
                }
            }
            try expectAnswer(.parameter) {
                $0.update.query.itemClass = .key
                $0.update.changes.created = date
            }
            try expectAnswer(.parameter) {
                $0.add.itemClass = .key
                $0.add.attributes.dateCodes = [Attribute.startDate.rawValue]
                $0.add.attributes.dates = [date]
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
        try expectAnswer(.parameter) { $0.add.itemClass = .identity }
        try expectAnswer(.parameter) {
            $0.delete = .with {
                $0.itemClass = .key; $0.atMost = -1
            }
        }
        try expectAnswer(.parameter) {
            $0.delete = .with {
                $0.itemClass = .key; $0.persistentReference = Data(count: 12)
            }
        }
        try expectAnswer(.parameter) {
            $0.importItems.items = [
                .with {
                    $0.itemClass = .key; $0.identifier = Data(count: 15); $0.protection = .always
                }
            ]
        }
        for limit in [Int64.min, -1, 0, 366 * 24 * 3600 + 1, .max] {
            try expectAnswer(.parameter) {
                $0.setPolicy = .with {
                    $0.idleLimit = limit; $0.passcodeSize = 0
                }
            }
        }
    }

    @Test("A file's key of another size, for a class that is none, or without an id is refused")
    func fileKeys() throws {
        let whole = WireWrappedFileKey(RequestSamples.wrappedFileKey)
        let flaws: [(inout WireWrappedFileKey) -> Void] = [
            { $0.fileID = Data(count: 15) }, { $0.storeID = Data() }, { $0.fileClass = .unspecified },
            { $0.fileClass = .UNRECOGNIZED(5) }, { $0.fileClass = .complete }, { $0.publicKey = Data() },
            { $0.publicKey = Data(count: 33) }, { $0.wrappedKey = Data(count: 39) },
            { $0.wrappedKey = Data(count: 41) },
        ]
        for flaw in flaws {
            var flawed = whole
            flaw(&flawed)
            try expectAnswer(.parameter) { $0.openFileKey = flawed }
            try expectAnswer(.parameter) {
                $0.rewrapFileKey = .with {
                    $0.key = flawed; $0.fileClass = .none
                }
            }
        }
        try expectAnswer(.parameter) { $0.openFileKey = WireWrappedFileKey() }
        try expectAnswer(.parameter) { $0.rewrapFileKey.key = whole }
        try expectAnswer(.parameter) { $0.rewrapFileKey.fileClass = .none }
        try expectAnswer(.parameter) { $0.makeFileKey.fileClass = .none }
        try expectAnswer(.parameter) { $0.makeFileKey.fileID = Data(count: 16) }
        try expectAnswer(.parameter) {
            $0.makeFileKey = .with {
                $0.fileID = Data(count: 17); $0.fileClass = .none
            }
        }
    }

    @Test("A key to be adopted of another size, for no class or no file, or a backup key of other sizes is refused")
    func adoptedKeys() throws {
        func expectParameter(_ size: Int?, of populate: (inout WireClientMessage) -> Void) throws {
            var request = WireClientMessage.with { $0.id = 77 }
            populate(&request)
            let message = try request.serializedBytes() as Data
            let tail = size.map { SecretBytes(copying: Data(count: $0)) }
            expectRefusal(.parameter, id: 77) { try ClientMessage(message: message, tail: tail) }
        }
        func adopt(_ size: Int?, _ fileClass: WireFileClass, _ idSize: Int) throws {
            try expectParameter(size) {
                $0.adoptFileKey.fileClass = fileClass
                $0.adoptFileKey.fileID = Data(count: idSize)
                if let size { $0.adoptFileKey.keySize = UInt64(size) }
            }
        }
        func backUp(_ size: Int?, headerSize: Int) throws {
            try expectParameter(size) {
                $0.backUpFileKeys.header = Data(count: headerSize)
                if let size { $0.backUpFileKeys.keySize = UInt64(size) }
            }
        }
        for size in [nil, 0, 31, 33] {
            try adopt(size, .none, 16)
            try backUp(size, headerSize: 83)
        }
        for size in [0, 15, 17] { try adopt(32, .none, size) }
        for fileClass in [WireFileClass.unspecified, .UNRECOGNIZED(5)] { try adopt(32, fileClass, 16) }
        for size in [0, 82, 84] { try backUp(32, headerSize: size) }
    }

    @Test("An answer whose file key has another size than a key has is none")
    func answeredFileKeys() throws {
        for key in ["", "31 bytes, which is one too few .", "33 bytes, which is one too many .."] {
            let answer = FileKey(wrapped: RequestSamples.wrappedFileKey, key: SecretBytes(String(key.dropLast())))
            expectUnreadable { try DaemonMessage.reply(id: 1, .fileKey(answer), isLast: true).arrived() }
        }
        let without = WireDaemonMessage.with {
            $0.id = 1; $0.fileKey.wrapped = WireWrappedFileKey(RequestSamples.wrappedFileKey)
        }
        expectUnreadable { try DaemonMessage(message: without.serializedBytes(), tail: nil) }
    }

    @Test("A passcode that is not there is none, and not an empty one")
    func passcodes() throws {
        try expectAnswer(.parameter) { $0.unlock = WireUnlock() }
        try expectAnswer(.parameter) { $0.setPasscode = WireSetPasscode() }
        try expectAnswer(.parameter) { $0.changePasscode.oldSize = 0 }
        try expectAnswer(.parameter) { $0.changePasscode.newSize = 0 }
        try expectAnswer(.parameter) { $0.removePasscode = WireRemovePasscode() }
        try expectAnswer(.parameter) { $0.setPolicy = WireSetPolicy() }
    }

    @Test("Sizes of secrets that no memory has are refused")
    func sizes() throws {
        for size in [1, .max, UInt64(Int.max), UInt64(Int.max) + 1] {
            try expectAnswer(.parameter) { $0.unlock.passcodeSize = size }
            try expectAnswer(.parameter) {
                $0.changePasscode.oldSize = size
                $0.changePasscode.newSize = size
            }
        }
    }

    @Test("Too many items are refused before they are made out")
    func manyItems() throws {
        let most = ImportRequest.mostItems
        var request = WireClientMessage()
        request.id = 4
        let item = WireItem.with {
            $0.itemClass = .key; $0.identifier = Data(count: 16); $0.protection = .always
        }
        request.importItems.items = Array(repeating: item, count: most)
        _ = try ClientMessage(message: request.serializedBytes(), tail: nil)
        request.importItems.items.append(item)
        let message = try request.serializedBytes() as Data
        expectUnreadable { try ClientMessage(message: message, tail: nil) }
        // In two pieces, which are one message to whoever reads it, and behind what a scan may stumble on.
        request.importItems.items.removeLast(most / 2)
        let half = try request.serializedBytes() as Data
        for obstacle in [Data(), Data([0x0b, 0x08, 0x01, 0x0c]), Data([0x80 | 0x28, 0x80, 0x80, 0x00, 0x01])] {
            expectUnreadable { try ClientMessage(message: obstacle + half + half, tail: nil) }
        }
    }

    @Test("Counts of an answer that could not be reckoned with are refused")
    func counts() throws {
        for count in [-1, .min, .max] as [Int64] {
            for message in [
                WireDaemonMessage.with {
                    $0.id = 1; $0.rekeyed.total = count
                },
                .with {
                    $0.id = 1; $0.exported.leftOutOfTokens = count
                },
            ] {
                expectUnreadable { try DaemonMessage(message: message.serializedBytes(), tail: nil) }
            }
        }
        var lock = ReplySamples.lock
        lock.secondsUntilNextAttempt = .nan
        expectUnreadable { try DaemonMessage.reply(id: 1, .lockStatus(lock), isLast: true).arrived() }
    }

    private func expectAnswer(
        _ code: KeychainError.Code, sourceLocation: SourceLocation = #_sourceLocation,
        of populate: (inout WireClientMessage) -> Void
    ) throws {
        var request = WireClientMessage()
        request.id = 77
        populate(&request)
        let message = try request.serializedBytes() as Data
        expectRefusal(code, id: 77, sourceLocation: sourceLocation) {
            try ClientMessage(message: message, tail: nil)
        }
    }
}

extension WireAdd {
    fileprivate static func password(_ populate: (inout WireAttributes) -> Void) -> WireAdd {
        .with {
            $0.itemClass = .genericPassword
            populate(&$0.attributes)
        }
    }
}

extension WireAttributes {
    fileprivate mutating func set(_ attribute: Attribute, _ text: String) {
        textCodes.append(attribute.rawValue)
        texts.append(text)
    }
}
