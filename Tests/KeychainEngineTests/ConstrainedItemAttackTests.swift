import Foundation
import KeychainEngine
import KeychainModel
import KeychainTestSupport
import Testing

/// Attacks on items that ask for authentication, by who can write the store's files or is another caller.
@Suite("Attacks on constrained items")
struct ConstrainedItemAttackTests {
    private static let passcode = AuthenticationProof(passcode: .of("1234"))

    @Test("A constraint that is edited into a weaker one does not make the item readable", arguments: weaker)
    func weakened(stored: AccessControl.Flags, edited: AccessControl.Flags) throws {
        try withKeychain { keychain in
            let engine = keychain.engine
            try engine.setPasscode("1234")
            try engine.addConstrained("ann", stored)
            let weaker = try AccessControl(.whenUnlocked, flags: edited)
            try keychain.files.edit("UPDATE item SET access = ?", [.blob(Data(weaker.canonicalBytes))])
            for proof in [nil, Self.passcode, AuthenticationProof(applicationPassword: .of("pw"))] {
                #expect(engine.read("ann", proof) == .failed(.itemNotFound))
            }
        }
    }

    private static let weaker: [(AccessControl.Flags, AccessControl.Flags)] = [
        (.devicePasscode, []), (.devicePasscode, .userPresence), (.userPresence, []),
        (.applicationPassword, []), ([.applicationPassword, .devicePasscode], .applicationPassword),
        ([.applicationPassword, .devicePasscode], .devicePasscode),
    ]

    @Test("The sealed secret of another item, or its key, does not open in this one's place")
    func replayed() throws {
        try withKeychain { keychain in
            let (engine, store) = (keychain.engine, keychain.files)
            try engine.setPasscode("1234")
            try engine.addConstrained("ann", .devicePasscode)
            try engine.addConstrained("bob", .devicePasscode)
            try engine.add(.password("eve"))
            for column in ["secret_key", "secret"] {
                for other in [2, 3] {
                    let before = try #require(try store.value("SELECT \(column) FROM item WHERE id = 1"))
                    try store.edit(
                        "UPDATE item SET \(column) = (SELECT \(column) FROM item WHERE id = \(other)) WHERE id = 1")
                    #expect(engine.read("ann", Self.passcode) == .failed(.itemNotFound))
                    try store.edit("UPDATE item SET \(column) = ? WHERE id = 1", [before])
                }
            }
            #expect(engine.read("ann", Self.passcode) == .secret("secret"))
        }
    }

    @Test("No flipped byte of the wrapped key of a secret behind the passcode opens")
    func flipped() throws {
        try withKeychain { keychain in
            let (engine, store) = (keychain.engine, keychain.files)
            try engine.setPasscode("1234")
            try engine.addConstrained("ann", .devicePasscode)
            let key = try #require(try store.value("SELECT secret_key FROM item WHERE id = 1")?.bytes)
            #expect(key.count == 88)
            for place in key.indices {
                var changed = key
                changed[place] ^= 1
                try store.edit("UPDATE item SET secret_key = ? WHERE id = 1", [.blob(changed)])
                #expect(engine.read("ann", Self.passcode) == .failed(.itemNotFound))
            }
        }
    }

    @Test("An enrolled set that is edited into the row does not make it open for that set")
    func editedSet() throws {
        try withKeychain { keychain in
            let reader = keychain.reader
            reader.enroll(1)
            try keychain.engine.addConstrained("ann", .biometryCurrentSet)
            reader.enroll(1, 2)
            #expect(keychain.engine.read("ann") == .failed(.itemNotFound))
            let bound = try AccessControl(.whenUnlocked, flags: .biometryCurrentSet).bound(to: try reader.enrolment())
            try keychain.files.edit("UPDATE item SET access = ?", [.blob(Data(bound.canonicalBytes))])
            reader.touch(2)
            #expect(keychain.engine.read("ann") == .failed(.itemNotFound))
        }
    }

    @Test(
        "A ticket is worth something to the caller it was given to alone, until it is given back",
        arguments: KeychainHost.carriers)
    func foreignTicket(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            keychain.reader.enroll(1)
            try keychain.engine.addConstrained("ann", .biometryAny)
            let handler = keychain.handler
            keychain.reader.touch(1)
            let ticket = try handler.verifyBiometry(for: caller, Cancellation()) { _ in }
            let proof = AuthenticationProof(ticket: ticket)
            #expect(handler.read("ann", proof) == .secret("secret"))
            #expect(handler.read("ann", proof, as: Caller(groups: ["G", "H"])) == .needed([[.biometry]]))
            #expect(handler.read("ann", AuthenticationProof(ticket: BiometryTicket(UUID()))) == .needed([[.biometry]]))
            _ = try handler.handle(.endTicket(ticket), from: Caller(groups: ["G", "H"]))
            #expect(handler.read("ann", proof) == .secret("secret"))
            _ = try handler.handle(.endTicket(ticket), from: caller)
            #expect(handler.read("ann", proof) == .needed([[.biometry]]))
        }
    }

    @Test("A ticket is worth nothing to another process, though it has the same groups")
    func ticketOfAnotherProcess() throws {
        try withKeychain { keychain in
            keychain.reader.enroll(1)
            try keychain.engine.addConstrained("ann", .biometryAny)
            keychain.reader.touch(1)
            let ticket = try keychain.engine.verifyBiometry(for: .process(1), Cancellation()) { _ in }
            let proof = AuthenticationProof(ticket: ticket)
            #expect(keychain.engine.read("ann", proof, as: .process(2)) == .needed([[.biometry]]))
            #expect(keychain.engine.read("ann", proof, as: .process(1)) == .secret("secret"))
        }
    }

    @Test("After five fingers that did not match the reader is not asked again", arguments: KeychainHost.carriers)
    func sixthFinger(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            keychain.reader.enroll(1)
            for _ in 0..<5 {
                keychain.reader.touch(7)
                #expect(throws: BiometryFailure.noMatch) {
                    try keychain.handler.verifyBiometry(for: caller, Cancellation()) { _ in }
                }
            }
            keychain.reader.touch(1)
            #expect(throws: BiometryFailure.lockedOut) {
                try keychain.handler.verifyBiometry(for: caller, Cancellation()) { _ in }
            }
            #expect(keychain.reader.lookCount == 5)
        }
    }

    @Test("Of two factors that an item asks for together, each alone leaves the other to be shown")
    func oneOfTwoFactors() throws {
        try withKeychain { keychain in
            let engine = keychain.engine
            try engine.setPasscode("1234")
            keychain.reader.enroll(1)
            try engine.addConstrained("ann", [.biometryAny, .and, .devicePasscode])
            keychain.reader.touch(1)
            let ticket = try engine.verifyBiometry(for: caller, Cancellation()) { _ in }
            #expect(engine.read("ann", Self.passcode) == .needed([[.biometry]]))
            #expect(engine.read("ann", AuthenticationProof(ticket: ticket)) == .needed([[.passcode]]))
            #expect(engine.read("ann", AuthenticationProof(passcode: .of("1234"), ticket: ticket)) == .secret("secret"))
        }
    }

    @Test("An identity with a free certificate is not found without what its key asks for", arguments: [true, false])
    func constrainedIdentityIsFound(wantsSecrets: Bool) throws {
        try withKeychain { keychain in
            try keychain.engine.setPasscode("1234")
            try keychain.engine.addIdentityWithConstrainedKey()
            let find = Request.find(FindRequest(ItemQuery(.identity), wantsSecrets: wantsSecrets))
            #expect(try keychain.engine.factorsNeeded(for: find) == [[.passcode]])
            #expect(try keychain.engine.factorsNeeded(for: .authenticated(Self.passcode, find)) == nil)
        }
    }

    @Test("An identity with a free certificate is not changed without what its key asks for")
    func constrainedIdentityIsChanged() throws {
        try withKeychain { keychain in
            try keychain.engine.setPasscode("1234")
            try keychain.engine.addIdentityWithConstrainedKey()
            var changes = ItemChanges()
            changes.attributes = [.label: .text("new")]
            let update = Request.update(UpdateRequest(ItemQuery(.identity), changes: changes))
            #expect(try keychain.engine.factorsNeeded(for: update) == [[.passcode]])
            #expect(try keychain.engine.factorsNeeded(for: .authenticated(Self.passcode, update)) == nil)
        }
    }

    @Test("A check finds a constrained item whose key is broken, and needs no passcode for that")
    func brokenKeyIsReported() throws {
        try withKeychain { keychain in
            try keychain.addWithBrokenKey("ann")
            #expect(try keychain.engine.findings().map(\.severity) == [.damage])
        }
    }

    @Test("A constrained item whose key is broken gives way to a new one")
    func brokenKeyGivesWay() throws {
        try withKeychain { keychain in
            try keychain.addWithBrokenKey("ann")
            try keychain.engine.addConstrained("ann", .devicePasscode)
            #expect(keychain.engine.read("ann", Self.passcode) == .secret("secret"))
        }
    }

    @Test("A proof goes around one request, and not around another proof", arguments: KeychainHost.carriers)
    func nestedProof(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            try keychain.setPasscode("1234")
            let error = #expect(throws: KeychainError.self) {
                try keychain.engine.handle(
                    .authenticated(Self.passcode, .authenticated(Self.passcode, .status)), from: caller)
            }
            #expect(error?.code == .parameter)
        }
    }

    @Test("A wrong passcode counts, whatever the request that it came with", arguments: KeychainHost.carriers)
    func everyProofCounts(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            try keychain.setPasscode("1234")
            let wrong = AuthenticationProof(passcode: .of("wrong"))
            let error = #expect(throws: KeychainError.self) {
                try keychain.handler.handle(.authenticated(wrong, .authenticationStatus), from: caller)
            }
            #expect(error?.code == .authenticationFailed)
            #expect(try keychain.lockStatus.failedAttempts == 1)
        }
    }

    @Test(
        "A deletion that is constrained is refused without authentication, also while locked",
        arguments: KeychainHost.carriers)
    func constrainedDeletion(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            try keychain.setPasscode("1234")
            var request = AddRequest.password("ann")
            request.accessControl = try AccessControl(.whenUnlocked, flags: .userPresence).constrainingDeletion()
            try keychain.engine.add(request)
            var query = ItemQuery.password([.account: .text("ann")])
            query.authenticationUI = .fail
            let refused = #expect(throws: KeychainError.self) {
                try keychain.handler.handle(.delete(query), from: caller)
            }
            #expect(refused?.code == .interactionNotAllowed)
            try keychain.lock(.now)
            let locked = #expect(throws: KeychainError.self) {
                try keychain.handler.handle(.delete(query), from: caller)
            }
            #expect(locked?.code == .interactionNotAllowed)
            try keychain.unlock("1234")
            _ = try keychain.handler.handle(.authenticated(Self.passcode, .delete(query)), from: caller)
            #expect(keychain.handler.read("ann") == .failed(.itemNotFound))
        }
    }
}

extension TestKeychain {
    /// What somebody sees of it who has the files and no key.
    fileprivate var files: ClosedStore { ClosedStore(directory: directory) }

    /// Sets the passcode, and damages the wrapped key of an item behind it.
    fileprivate func addWithBrokenKey(_ account: String) throws {
        try engine.setPasscode("1234")
        try engine.addConstrained(account, .devicePasscode)
        try files.edit("UPDATE item SET secret_key = zeroblob(length(secret_key))")
    }
}

extension Caller {
    /// What a daemon makes of a program's connection.
    fileprivate static func process(_ pid: Int32) -> Caller {
        let evidence = CallerEvidence(pid: pid, uid: 0, gid: 0, groups: [], executable: nil, securityLabel: nil)
        return Caller(groups: caller.groups, evidence: evidence)
    }
}

/// What a request for a secret comes to.
private enum Outcome: Equatable {
    case secret(String)
    case needed([Set<AuthenticationFactor>])
    case failed(KeychainError.Code)
}

extension RequestHandler {
    fileprivate func addConstrained(_ account: String, _ flags: AccessControl.Flags) throws {
        var request = AddRequest.password(account)
        request.accessControl = try AccessControl(.whenUnlocked, flags: flags)
        _ = try handle(
            .authenticated(AuthenticationProof(applicationPassword: .of("pw")), .add(request)), from: caller)
    }

    /// A certificate, and its private key, which asks for a person.
    fileprivate func addIdentityWithConstrainedKey() throws {
        let hash = AttributeValue.data(Data(repeating: 7, count: 20))
        var certificate = AddRequest(.certificate)
        certificate.attributes = [.serialNumber: .data(Data([1])), .publicKeyHash: hash]
        certificate.secret = .of("certificate")
        try add(certificate)
        var key = AddRequest(.key)
        key.attributes = [.applicationLabel: hash, .keyClass: .number(1)]
        key.accessControl = try AccessControl(.whenUnlocked, flags: .userPresence)
        key.secret = .of("key")
        try add(key)
    }

    /// What has to be shown before a request is carried out; nil: it was.
    fileprivate func factorsNeeded(for request: Request) throws -> [Set<AuthenticationFactor>]? {
        guard case .authenticationNeeded(let challenge) = try handle(request, from: caller) else { return nil }
        return challenge.alternatives
    }

    fileprivate func read(
        _ account: String, _ proof: AuthenticationProof? = nil, as caller: Caller = caller
    ) -> Outcome {
        let find = Request.find(FindRequest(.password([.account: .text(account)]), wantsSecrets: true))
        do throws(KeychainError) {
            switch try handle(proof.map { .authenticated($0, find) } ?? find, from: caller) {
            case .found(let items):
                return .secret(String(decoding: items.first?.secret?.copyData() ?? Data(), as: UTF8.self))
            case .authenticationNeeded(let challenge): return .needed(challenge.alternatives)
            default: return .failed(.internalFailure)
            }
        } catch {
            return .failed(error.code)
        }
    }
}
