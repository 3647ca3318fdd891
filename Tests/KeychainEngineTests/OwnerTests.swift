import Foundation
import KeychainModel
import KeychainTestSupport
import Testing

@testable import KeychainEngine

/// The work of a store's owner on the system's host, where a caller that says it is the owner has to show it.
@Suite struct OwnerTests {
    private let claimed = Caller(groups: ["unconfined"], authority: .claimedOwner)

    private func withEngine(_ host: StoreHost = .system, _ body: (Engine, TestClock) throws -> Void) throws {
        try withTemporaryDirectory { directory in
            let clock = TestClock()
            var configuration = EngineConfiguration.test(in: directory, clock: clock)
            configuration.host = host
            try body(try Engine(configuration), clock)
        }
    }

    /// A new one for each call, since the last one ends the store.
    private static var work: [(name: String, request: Request)] {
        [
            ("export", .exportItems(ExportRequest())), ("import", .importItems(ImportRequest([]))),
            ("check", .check), ("compact", .compact), ("expired", .expiredItems(deleting: [])),
            ("deletion", .expiredItems(deleting: [UUID()])), ("sweep", .removeExpired),
            (
                "backup",
                .backUpFileKeys(
                    FileKeyBackupRequest(header: Data(), key: SecretBytes(copying: Data(repeating: 1, count: 32))))
            ),
            ("passcode", .passcode(.set(.of("4321")))), ("giving up", .giveUpStore),
        ]
    }

    private func failure(_ engine: Engine, _ request: Request, _ caller: Caller) -> KeychainError? {
        do throws(KeychainError) {
            _ = try engine.handle(request, from: caller)
            return nil
        } catch {
            return error
        }
    }

    private func isChallenge(_ reply: Reply) -> Bool {
        guard case .authenticationNeeded(let challenge) = reply else { return false }
        return challenge.alternatives == [[.passcode]]
    }

    @Test("Without a passcode a claim to be the owner is worth nothing, and the signal says that more may show it")
    func claims() throws {
        for (name, request) in Self.work {
            try withEngine { engine, _ throws in
                let error = failure(engine, request, claimed)
                #expect(error?.code == .missingEntitlement && error?.signal == .needsOwner, "\(name): \(error as Any)")
                let other = failure(engine, request, Caller(groups: ["G"]))
                #expect(other?.code == .missingEntitlement && other?.signal == nil, "\(name)")
                #expect(failure(engine, request, .owner)?.code != .missingEntitlement, "\(name)")
            }
        }
    }

    @Test("With a passcode the owner has to show it, each time; a wrong one counts as a wrong unlock does")
    func proofs() throws {
        try withEngine { engine, clock throws in
            try engine.setPasscode("1234")
            for (name, request) in Self.work {
                let answer = try engine.handle(request, from: claimed)
                #expect(isChallenge(answer), "\(name)")
                let other = failure(engine, request, Caller(groups: ["G"]))
                #expect(other?.code == .missingEntitlement && other?.signal == nil, "\(name)")
            }
            let wrong = AuthenticationProof(passcode: .of("wrong"))
            for number in 1...5 {
                let guess = AuthenticationProof(passcode: .of("wrong \(number)"))
                #expect(failure(engine, .authenticated(guess, .check), claimed)?.code == .authenticationFailed)
                #expect(try engine.lockStatus().failedAttempts == number)
            }
            let wait = try engine.lockStatus().secondsUntilNextAttempt
            #expect(wait > 0)
            // While it lasts none is looked at, be it for the owner's work or for an unlock.
            let right = AuthenticationProof(passcode: .of("1234"))
            for request in [Request.authenticated(right, .check), .unlock(.of("1234")), .authenticated(wrong, .check)] {
                #expect(failure(engine, request, claimed)?.code == .authenticationFailed)
            }
            #expect(try engine.lockStatus().failedAttempts == 5)
            clock.advance(by: wait)
            for (name, request) in Self.work {
                let error = failure(engine, .authenticated(right, request), claimed)
                #expect(error?.code != .missingEntitlement, "\(name): \(error as Any)")
                #expect(error == nil || ["passcode", "backup"].contains(name), "\(name): \(error as Any)")
            }
        }
    }

    @Test("A passcode that is shown for an item opens no group that the caller does not hold")
    func proofOpensNoGroup() throws {
        try withEngine { engine, _ throws in
            try engine.setPasscode("1234")
            let other = Caller(groups: ["other"])
            var constrained = AddRequest.password("a")
            constrained.accessControl = try AccessControl(.whenUnlocked, flags: [.userPresence])
            try engine.add(constrained, as: claimed)
            try engine.add(.password("a", secret: "other's"), as: other)
            let right = AuthenticationProof(passcode: .of("1234"))
            let query = ItemQuery.password([.account: .text("a")], limit: .all)
            var changes = ItemChanges()
            changes.secret = .of("changed")
            let find = Request.find(FindRequest(query, wantsSecrets: true))
            guard case .found(let found) = try engine.handle(.authenticated(right, find), from: claimed) else {
                throw engine.wrongReply
            }
            #expect(found.map(\.accessGroup) == ["unconfined"])
            let update = Request.update(UpdateRequest(query, changes: changes))
            _ = try engine.handle(.authenticated(right, update), from: claimed)
            var named = query
            named.accessGroup = "other"
            let refusal = failure(
                engine, .authenticated(right, .find(FindRequest(named, wantsSecrets: false))), claimed)
            #expect(refusal?.message == "access group other is not among yours: unconfined")
            guard case .deleted(1) = try engine.handle(.authenticated(right, .delete(query)), from: claimed) else {
                throw engine.wrongReply
            }
            #expect(try engine.secret(of: "a", as: other) == "other's")
        }
    }

    @Test("The first passcode is the owner's on the system's host, and any program's elsewhere")
    func firstPasscode() throws {
        for host in StoreHost.allCases {
            try withEngine(host) { engine, _ throws in
                let error = failure(engine, .passcode(.set(.of("1234"))), caller)
                #expect(error?.code == (host == .system ? .missingEntitlement : nil), "\(host)")
                #expect(try engine.lockStatus().hasPasscode == (host != .system))
                // Whoever knows it may change it and take it away: that shows it.
                if host == .system { try engine.setPasscode("1234") }
                #expect(failure(engine, .passcode(.remove(old: .of("wrong"))), caller)?.code == .authenticationFailed)
                #expect(failure(engine, .passcode(.remove(old: .of("1234"))), caller) == nil)
            }
        }
    }

    @Test("On the system's host nobody's wrong passcodes can erase what other programs have")
    func noErasure() throws {
        for host in [StoreHost.user, .system] {
            try withEngine(host) { engine, _ throws in
                try engine.setPasscode("1234")
                func set(_ policy: PasscodePolicy) -> KeychainError? {
                    failure(engine, .passcode(.setPolicy(policy, passcode: .of("1234"))), .owner)
                }
                #expect(set(PasscodePolicy(idleLimit: 60)) == nil)
                #expect(
                    set(PasscodePolicy(erasesAfterTenFailures: true))?.code == (host == .system ? .unimplemented : nil))
                #expect(try engine.lockStatus().erasesAfterTenFailures == (host == .user))
            }
        }
    }

    @Test("On the system's host no program's word makes the store count as watched")
    func noWatcher() throws {
        for host in [StoreHost.user, .system] {
            try withEngine(host) { engine, _ throws in
                try engine.setPasscode("1234")
                _ = try engine.handle(.renewLease, from: caller)
                #expect(try engine.lockStatus().isWatched == (host == .user))
            }
        }
    }

    @Test("A store takes no more than it may have, and deleting makes room again")
    func size() throws {
        try withTemporaryDirectory { directory in
            var configuration = EngineConfiguration.test(in: directory)
            configuration.host = .system
            configuration.mostBytesOfStore = 4 << 20
            let engine = try Engine(configuration)
            let large = String(repeating: "x", count: 500_000)
            var count = 0
            var refusal: KeychainError?
            while refusal == nil && count < 20 {
                refusal = failure(engine, .add(.password("\(count)", secret: large)), caller)
                if refusal == nil { count += 1 }
            }
            #expect(refusal?.code == .diskFull && (4...8).contains(count))
            #expect(try engine.secret(of: "0") == large)
            _ = try engine.handle(.delete(.password([.account: .text("0")])), from: caller)
            #expect(failure(engine, .add(.password("new", secret: large)), caller) == nil)
            #expect(try engine.findings().isEmpty)
        }
    }
}
