import Foundation
import KeychainEngine
import KeychainModel
import KeychainTestSupport

/// What is done while the fault happens.
struct Operation: Sendable {
    let name: String
    /// The store it begins with.
    let template: Template
    /// Opens the store and does what must have been done before; nil if opening is part of the operation.
    var prepare: (@Sendable (EngineConfiguration) throws -> Engine)? = Operation.open
    /// Once this returns, it is acknowledged. Returns the engine that goes on.
    let perform: @Sendable (Engine?, EngineConfiguration) throws -> Engine
    /// What is left to do after it was acknowledged, such as the steps of a renewal.
    var afterwards: @Sendable (Engine) throws -> Void = { _ in }
    /// Whether somebody who was not there can tell that it was done.
    var isVisible = true
    /// Whether the right passcode is given, which forgets the wrong ones.
    var provesPasscode = false
    /// The version of the programs that do it and look at it afterwards.
    var schema = StoreSchema.current
    /// The count of wrong passcodes may be one higher for an attempt that was cut short.
    var triesPasscode = false
}

/// A store that operations begin with.
enum Template: String, CaseIterable, Sendable {
    case nothing, items, passcode
    /// Killed in the midst of work: with a log that was never moved into the database; with a store half made; with a
    /// renewal of keys half way.
    case unclosed, halfMade, halfRenewed
}

// MARK: - The table

extension Operation {
    static let all = writing + passcodes + opening

    private static let writing = [
        Operation(name: "add", template: .items) { engine, _ in
            try engine!.add("new", secret: String(repeating: "new secret ", count: 200))
            return engine!
        },
        Operation(name: "update", template: .items) { engine, _ in
            var changes = ItemChanges()
            changes.secret = .of("changed")
            changes.attributes = [.label: .text("changed")]
            var query = ItemQuery(.genericPassword)
            query.attributes = [.account: .text("account 3")]
            _ = try engine!.handle(.update(UpdateRequest(query, changes: changes)), from: .owner)
            return engine!
        },
        Operation(name: "delete", template: .items) { engine, _ in
            try engine!.delete("account 3", service: "template")
            return engine!
        },
        // All of it, or nothing.
        Operation(name: "transaction", template: .items) { engine, _ in
            func item(_ account: String) -> ItemQuery {
                var query = ItemQuery(.genericPassword)
                query.attributes = [.account: .text(account), .service: .text("template")]
                return query
            }
            func secret(_ account: String) -> AddRequest {
                var request = AddRequest(.genericPassword)
                request.attributes = item(account).attributes
                request.secret = .of("of the transaction")
                return request
            }
            var changes = ItemChanges()
            changes.attributes = [.label: .text("of the transaction")]
            let request = TransactionRequest(steps: [
                .put(secret("account 3")), .put(secret("another")), .add(secret("a third")), .delete(item("account 5")),
                .update(UpdateRequest(item("account 7"), changes: changes)),
            ])
            guard case .committed(true) = try engine!.handle(.transaction(request), from: .owner) else {
                throw KeychainError(.internalFailure, message: "nothing was committed")
            }
            return engine!
        },
        Operation(name: "update-many", template: .items) { engine, _ in
            var changes = ItemChanges()
            changes.attributes = [.label: .text("one of many")]
            var query = ItemQuery(.genericPassword)
            query.limit = .all
            _ = try engine!.handle(.update(UpdateRequest(query, changes: changes)), from: .owner)
            return engine!
        },
        Operation(name: "delete-many", template: .items) { engine, _ in
            var query = ItemQuery(.genericPassword)
            query.limit = .all
            _ = try engine!.handle(.delete(query), from: .owner)
            return engine!
        },
        // By the clock of those who look afterwards they have not expired: they see all of them, or none.
        Operation(
            name: "expire", template: .items,
            prepare: { configuration in
                let engine = try Engine(configuration)
                for number in 0..<3 {
                    var request = AddRequest(.genericPassword)
                    request.attributes = [.account: .text("expiring \(number)"), .service: .text("template")]
                    request.expires = .after(1_000)
                    request.secret = .of(String(repeating: "expiring ", count: 200))
                    _ = try engine.handle(.add(request), from: .owner)
                }
                // They are seen to have expired, and go an hour later.
                (configuration.clock as? TestClock)?.advance(by: 1)
                _ = try engine.handle(.removeExpired, from: .owner)
                return engine
            },
            perform: { engine, configuration in
                (configuration.clock as? TestClock)?.advance(by: 3_600)
                let reply = try engine!.handle(.removeExpired, from: .owner)
                guard case .expired(let sweep) = reply, sweep.removedCount == 3 else {
                    throw KeychainError(.internalFailure, message: "nothing had expired")
                }
                return engine!
            }),
        Operation(
            name: "checkpoint", template: .items,
            prepare: { configuration in
                let engine = try Engine(configuration)
                for number in 0..<4 { try engine.add("in the log \(number)") }
                return engine
            },
            perform: { engine, _ in
                engine!.prepareForExit()
                return engine!
            }, isVisible: false),
    ]

    private static let passcodes = [
        Operation(
            name: "first-passcode", template: .items,
            perform: { engine, _ in
                _ = try engine!.handle(.passcode(.set(.of("old"))), from: .owner)
                return engine!
            }, afterwards: finishRenewal),
        Operation(
            name: "passcode-change", template: .passcode, prepare: unlocked,
            perform: { engine, _ in
                try engine!.changePasscode(from: "old", to: "new")
                return engine!
            }, provesPasscode: true, triesPasscode: true),
        Operation(
            name: "rekey", template: .passcode, prepare: unlocked,
            perform: { engine, _ in
                let change = PasscodeRequest.change(old: .of("old"), new: .of("new"), rekey: true)
                _ = try engine!.handle(.passcode(change), from: .owner)
                return engine!
            }, afterwards: finishRenewal, provesPasscode: true, triesPasscode: true),
        Operation(
            name: "passcode-remove", template: .passcode, prepare: unlocked,
            perform: { engine, _ in
                _ = try engine!.handle(.passcode(.remove(old: .of("old"))), from: .owner)
                return engine!
            }, provesPasscode: true, triesPasscode: true),
        Operation(
            name: "policy", template: .passcode, prepare: unlocked,
            perform: { engine, _ in
                let policy = PasscodePolicy(idleLimit: 3600)
                _ = try engine!.handle(.passcode(.setPolicy(policy, passcode: .of("old"))), from: .owner)
                return engine!
            }, provesPasscode: true, triesPasscode: true),
        Operation(
            name: "wrong-passcode", template: .passcode,
            perform: { engine, _ in
                guard try engine!.unlock(withOneOf: ["guess"]) == nil else {
                    throw KeychainError(.internalFailure, message: "a wrong passcode was taken")
                }
                return engine!
            }, isVisible: false),
        Operation(
            name: "unlock", template: .passcode,
            perform: { engine, _ in
                _ = try engine!.handle(.unlock(.of("old")), from: .owner)
                return engine!
            }, isVisible: false, provesPasscode: true, triesPasscode: true),
        Operation(
            name: "lock", template: .passcode, prepare: unlocked,
            perform: { engine, _ in
                _ = try engine!.handle(.lock(.now), from: .owner)
                return engine!
            }, isVisible: false),
    ]

    /// Where opening is the operation, or the store was left by a crash.
    private static let opening = [
        Operation(
            name: "create", template: .nothing, prepare: nil,
            perform: { _, configuration in
                let engine = try Engine(configuration)
                try engine.add("first")
                return engine
            }),
        Operation(
            name: "resume-creation", template: .halfMade, prepare: nil,
            perform: { _, configuration in
                let engine = try Engine(configuration)
                try engine.add("first")
                return engine
            }),
        // If half of it were done, whoever opens the store next could not do it again.
        Operation(
            name: "upgrade", template: .items, prepare: nil, perform: { _, configuration in try Engine(configuration) },
            isVisible: false, schema: .next),
        Operation(
            name: "upgrade-after-crash", template: .unclosed, prepare: nil,
            perform: { _, configuration in try Engine(configuration) }, isVisible: false, schema: .next),
        Operation(
            name: "recover", template: .unclosed, prepare: nil,
            perform: { _, configuration in
                let engine = try Engine(configuration)
                try engine.add("after the crash")
                return engine
            }),
        Operation(
            name: "resume-renewal", template: .halfRenewed,
            perform: { engine, _ in
                guard try engine!.unlock(withOneOf: ["new", "old"]) != nil else {
                    throw KeychainError(.authenticationFailed, message: "no passcode opens it")
                }
                try finishRenewal(engine!)
                return engine!
            }, isVisible: false, provesPasscode: true, triesPasscode: true),
    ]

    @Sendable private static func open(_ configuration: EngineConfiguration) throws -> Engine {
        try Engine(configuration)
    }

    @Sendable private static func unlocked(_ configuration: EngineConfiguration) throws -> Engine {
        let engine = try Engine(configuration)
        _ = try engine.handle(.unlock(.of("old")), from: .owner)
        return engine
    }

    @Sendable private static func finishRenewal(_ engine: Engine) throws {
        try engine.finishRekey(after: try engine.handle(.rekeyStep, from: .owner))
    }
}

// MARK: - Templates

extension Template {
    /// Makes it, in a process of its own.
    func make(in directory: URL) throws {
        let configuration = EngineConfiguration.probe(in: directory)
        switch self {
        case .nothing, .halfMade:
            return
        case .items, .unclosed:
            let engine = try Engine(configuration)
            try fill(engine, hasPasscode: false)
            if self == .items { engine.prepareForExit() }
        case .passcode, .halfRenewed:
            let engine = try Engine(configuration)
            try engine.setPasscode("old")
            try fill(engine, hasPasscode: true)
            // A wrong one that was counted, and must stay so.
            if self == .passcode { _ = try engine.unlock(withOneOf: ["wrong"]) }
            engine.prepareForExit()
        }
    }

    /// Items of every class and protection, small and of several pages.
    private func fill(_ engine: Engine, hasPasscode: Bool) throws {
        let protections = Protection.allCases.filter { hasPasscode || $0 != .whenPasscodeSetThisDeviceOnly }
        for number in 0..<14 {
            var request = AddRequest(.genericPassword)
            request.attributes = [.account: .text("account \(number)"), .service: .text("template")]
            request.accessControl = AccessControl(protections[number % protections.count])
            request.secret = .of("secret \(number) " + String(repeating: "x", count: number == 3 ? 20_000 : number))
            _ = try engine.handle(.add(request), from: .owner)
        }
        var internet = AddRequest(.internetPassword)
        internet.attributes = [.account: .text("ann"), .server: .text("example.org"), .port: .number(443)]
        internet.secret = .of("internet")
        _ = try engine.handle(.add(internet), from: .owner)
        var certificate = AddRequest(.certificate)
        certificate.attributes = [.serialNumber: .data(Data([7])), .issuer: .data(Data("issuer".utf8))]
        certificate.secret = .of("certificate")
        _ = try engine.handle(.add(certificate), from: .owner)
        var key = AddRequest(.key)
        key.attributes = [.applicationLabel: .data(Data("label".utf8)), .applicationTag: .data(Data("tag".utf8))]
        key.secret = .of("key")
        _ = try engine.handle(.add(key), from: .owner)
    }
}
