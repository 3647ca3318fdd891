import Foundation
import GRDB
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
            try keychain.files.edit("UPDATE item SET access = ?", [Data(weaker.canonicalBytes)])
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
                    let before: Data = try #require(try store.value("SELECT \(column) FROM item WHERE id = 1"))
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
            let key: Data = try #require(try store.value("SELECT secret_key FROM item WHERE id = 1"))
            #expect(key.count == 88)
            for place in key.indices {
                var changed = key
                changed[place] ^= 1
                try store.edit("UPDATE item SET secret_key = ? WHERE id = 1", [changed])
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
            try keychain.files.edit("UPDATE item SET access = ?", [Data(bound.canonicalBytes)])
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
