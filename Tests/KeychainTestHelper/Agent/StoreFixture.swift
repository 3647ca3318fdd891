import Foundation
import Glibc
import KeychainEngine
import KeychainModel
import KeychainTestSupport

/// Makes a store that later versions must be able to open, and writes down what must come out of it.
///
/// Device key and passcode lie beside it: it is material for tests and protects nothing.
struct StoreFixture {
    private enum Kind: String {
        /// Without a passcode, and closed.
        case plain
        /// With a passcode of the cost that every store has, and closed.
        case passcode
        /// With a passcode, and what was written last in the log alone. As the next one with scrypt's lowest cost.
        case killed
        /// In the midst of a renewal of all keys.
        case renewal
        /// As these two, with a passcode of the cost that every store has: the released program opens them.
        case killedReleased = "killed-released"
        case renewalReleased = "renewal-released"
        /// With a passcode, a keybag of format 2, and keys of files of two generations.
        case secondKeybag = "keybag-2"

        var isKilled: Bool { self == .killed || self == .killedReleased }
        var isRenewal: Bool { self == .renewal || self == .renewalReleased }
        var hasPasscodeFirst: Bool { self == .passcode || self == .secondKeybag || isKilled }
        var hasCostOfRelease: Bool {
            [.passcode, .secondKeybag, .killedReleased, .renewalReleased].contains(self)
        }
    }

    private static let passcode = "a passcode of a fixture"

    private let engine: Engine
    private let clock: TestClock
    private var manifest: FixtureManifest

    static func make(in directory: URL, kind name: String) throws {
        guard let kind = Kind(rawValue: name) else { throw KeychainError(.parameter, message: "no kind \(name)") }
        var fixture = try StoreFixture(in: directory, kind)
        try fixture.fill(kind)
        if kind.isKilled || kind.isRenewal {
            try fixture.addToLog()
            try fixture.manifest.write(to: directory.appendingPathComponent(FixtureManifest.fileName))
            kill(getpid(), SIGKILL)
        }
        fixture.engine.prepareForExit()
        try fixture.manifest.write(to: directory.appendingPathComponent(FixtureManifest.fileName))
    }

    private init(in directory: URL, _ kind: Kind) throws {
        clock = TestClock()
        var configuration = EngineConfiguration.test(in: directory, clock: clock, usesKeyring: false)
        if kind.hasCostOfRelease {
            configuration.passcodeCost =
                EngineConfiguration(
                    storeDirectory: directory, deviceKeyDirectory: directory
                ).passcodeCost
        }
        configuration.rowsPerRekeyStep = 10
        engine = try Engine(configuration)
        manifest = FixtureManifest(
            passcode: kind == .plain ? nil : Self.passcode, hasLog: kind.isKilled || kind.isRenewal)
    }
}

// MARK: - Content

extension StoreFixture {
    private mutating func fill(_ kind: Kind) throws {
        if kind.hasPasscodeFirst { try engine.setPasscode(Self.passcode) }
        for protection in Protection.allCases {
            if protection == .whenPasscodeSetThisDeviceOnly && (kind == .plain || kind.isRenewal) { continue }
            for request in [password, internetPassword, certificate, key] { try add(request, protection) }
        }
        try addOddOnes()
        try change()
        if kind.isRenewal {
            // The first step of several: rows of both generations are there.
            _ = try engine.handle(.passcode(.set(.of(Self.passcode))), from: .owner)
            _ = try engine.handle(.rekeyStep, from: .owner)
        }
        if kind == .secondKeybag { try addFiles() }
        engine.prepareForExit()
    }

    /// Keys of every class before and after a renewal, and a policy that needs format 2.
    private mutating func addFiles() throws {
        let policy = PasscodePolicy(timeAfterLock: 3600)
        _ = try engine.handle(.passcode(.setPolicy(policy, passcode: .of(Self.passcode))), from: .owner)
        var keys: [String: Data] = [:]
        for isRenewed in [false, true] {
            if isRenewed { try engine.changePasscode(from: Self.passcode, to: Self.passcode, rekey: true) }
            for fileClass in FileClass.allCases {
                let request = Request.fileKey(.make(fileClass, fileID: UUID()))
                guard case .fileKey(let key) = try engine.handle(request, from: caller) else { continue }
                keys[key.wrapped.text] = key.key.copyData()
            }
        }
        manifest.fileKeys = keys
    }

    private mutating func add(_ request: AddRequest, _ protection: Protection? = nil) throws {
        var request = request
        if let protection {
            request.accessControl = AccessControl(protection)
            request.attributes[.label] = .text("\(request.itemClass.rawValue) \(protection.rawValue)")
            if request.itemClass == .certificate {
                request.attributes[.serialNumber] = .data(Data(protection.rawValue.utf8))
            } else if request.itemClass == .key {
                request.attributes[.applicationTag] = .text(protection.rawValue)
            } else {
                request.attributes[.account] = .text(protection.rawValue)
            }
        }
        clock.advance(by: 1.25)
        guard case .added(let item) = try engine.handle(.add(request), from: caller) else { return }
        manifest.items.append(.init(item, secret: request.secret))
    }

    /// What is likely to be forgotten.
    private mutating func addOddOnes() throws {
        var plain = password
        plain.attributes[.account] = .text("no secret")
        plain.secret = nil
        try add(plain)
        plain.attributes[.account] = .text("empty secret")
        plain.secret = .of("")
        try add(plain)
        plain.attributes[.account] = .data(Data([0, 0xff, 0xfe, 0x0a, 0xc3, 0x28]))
        plain.secret = SecretBytes(copying: Data((0..<6_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }))
        try add(plain)
        // The same letters to the eye, in two forms; the second in another group, with the first one's too.
        plain.attributes[.account] = .text("caf\u{e9}")
        try add(plain)
        plain.attributes[.account] = .text("cafe\u{301}\u{0}\n")
        plain.accessGroup = "other"
        try add(plain)
        plain.synchronizable = true
        try add(plain)
        var expiring = password
        // In the year 2222, far beyond any test.
        for (account, seconds) in [("expiring", 7e9), ("expiring later", 7e9 + 0.001)] {
            expiring.attributes[.account] = .text(account)
            expiring.expires = .at(ExpiryDate(seconds: seconds)!)  // a date that calendars show
            try add(expiring)
        }
        var constrained = password
        constrained.attributes[.account] = .text("constrained")
        constrained.accessControl = try AccessControl(.whenUnlocked, flags: .userPresence)
        _ = try engine.handle(.add(constrained), from: caller)
        manifest.constrained.append("constrained")
    }

    /// An item that was updated twice, and one that was deleted.
    private mutating func change() throws {
        var request = password
        request.attributes[.account] = .text("deleted")
        guard case .added = try engine.handle(.add(request), from: caller) else { return }
        _ = try engine.handle(.delete(query("deleted")), from: caller)
        request.attributes[.account] = .text("updated")
        try add(request)
        try update("updated", secret: "second")
        try update("updated", secret: "third")
    }

    /// What a process that is killed leaves in the log.
    private mutating func addToLog() throws {
        var request = password
        request.attributes[.account] = .text("in the log")
        try add(request)
        try update("in the log", secret: "updated in the log")
        request.attributes[.account] = .text("expiring in the log")
        request.expires = .at(ExpiryDate(seconds: 7e9)!)  // as above
        try add(request)
        request.expires = nil
        request.attributes[.account] = .text("deleted in the log")
        guard case .added = try engine.handle(.add(request), from: caller) else { return }
        _ = try engine.handle(.delete(query("deleted in the log")), from: caller)
    }

    private mutating func update(_ account: String, secret: String) throws {
        clock.advance(by: 1.25)
        var changes = ItemChanges()
        changes.secret = .of(secret)
        _ = try engine.handle(.update(UpdateRequest(query(account), changes: changes)), from: caller)
        manifest.items[manifest.items.count - 1].secret = Data(secret.utf8)
        manifest.items[manifest.items.count - 1].modified = clock.now
    }

    private var caller: Caller { Caller(groups: ["group", "other"]) }

    private func query(_ account: String) -> ItemQuery {
        var query = ItemQuery(.genericPassword)
        query.attributes = [.account: .text(account)]
        return query
    }
}

// MARK: - Items

extension StoreFixture {
    private var password: AddRequest {
        var request = AddRequest(.genericPassword)
        request.attributes = [
            .service: .text("service"), .generic: .data(Data([1, 2, 3])), .comment: .text("a comment\nof two lines"),
            .description: .data(Data("as data".utf8)), .creator: .number(0x6170_706c), .type: .number(-1),
            .isInvisible: .number(1),
        ]
        request.secret = .of("secret of a password")
        return request
    }

    private var internetPassword: AddRequest {
        var request = AddRequest(.internetPassword)
        request.attributes = [
            .server: .text("host.example"), .securityDomain: .text("realm"), .path: .text("/path"),
            .port: .number(443), .internetProtocol: .number(0x6874_7073), .authenticationType: .text("dflt"),
        ]
        request.secret = .of("secret of an internet password")
        return request
    }

    private var certificate: AddRequest {
        var request = AddRequest(.certificate)
        request.attributes = [
            .subject: .data(Data("subject".utf8)), .issuer: .data(Data("issuer".utf8)),
            .publicKeyHash: .data(Data(repeating: 7, count: 20)), .subjectKeyID: .data(Data(repeating: 8, count: 20)),
            .certificateType: .number(3), .certificateEncoding: .number(3),
        ]
        request.secret = SecretBytes(copying: Data([0x30, 1, 0]))
        return request
    }

    private var key: AddRequest {
        var request = AddRequest(.key)
        request.attributes = [
            .applicationLabel: .data(Data(repeating: 7, count: 20)), .keyClass: .number(1), .type: .number(73),
            .keySizeInBits: .number(256), .effectiveKeySize: .number(256), .startDate: .date(1.5),
            .endDate: .date(978_307_200.125), .isPermanent: .number(1), .canSign: .number(1),
        ]
        request.secret = .of("secret of a key")
        return request
    }
}
