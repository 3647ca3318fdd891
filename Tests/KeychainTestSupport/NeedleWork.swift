internal import Foundation
package import KeychainModel

/// The life of a store whose every value is a needle: a random word that must be found nowhere afterwards.
package struct NeedleWork: Codable, Sendable {
    package enum Step: String, CaseIterable, Codable, Sendable {
        case add, find, update, refused, passcode, locked, wrongPasscode, unlocked, damaged, removed
    }

    /// By name.
    package private(set) var needles: [String: String] = [:]

    private static let values = [
        "secret", "second secret", "refused secret", "locked secret", "internet secret", "key secret",
        "certificate bytes", "account", "second account", "absent account", "service", "label", "second label",
        "comment", "description", "alias", "generic data", "view hint", "server", "security domain", "path", "subject",
        "issuer", "serial number", "public key hash", "subject key", "application tag", "application label",
    ]
    private static let groups = ["group", "foreign group"]
    private static let passcodes = ["passcode", "second passcode", "wrong passcode"]

    package init() {
        var generator = SeededGenerator(seed: .random(in: .min ... .max))
        for name in Self.values + Self.groups + Self.passcodes {
            needles[name] = "needle" + generator.bytes(15).map { String($0, radix: 36) }.joined()
        }
    }

    /// Those that not even the text of an error may have: of groups it names what was asked for or is held.
    package var secretNeedles: [String: String] { needles.filter { !Self.groups.contains($0.key) } }

    private var caller: Caller { Caller(groups: [text("group")]) }

    package func text(_ name: String) -> String { needles[name]! }
    private func value(_ name: String) -> AttributeValue { .text(text(name)) }
    private func data(_ name: String) -> AttributeValue { .data(Data(text(name).utf8)) }
}

// MARK: - Steps

extension NeedleWork {
    /// Performs a step, and returns every text that the errors in it have.
    ///
    /// - Throws: if a call succeeds that must fail, or fails that must succeed.
    package func perform(_ step: Step, on engine: any RequestHandler) throws -> [String] {
        switch step {
        case .add: try add(to: engine)
        case .find: return try find(in: engine)
        case .update: try update(engine)
        case .refused: return try refusals(of: engine)
        case .passcode: try engine.setPasscode(text("passcode"))
        case .locked: return try lock(engine)
        case .wrongPasscode: return [try failure(.unlock(.of(text("wrong passcode"))), on: engine, from: .owner)]
        case .unlocked:
            _ = try engine.handle(.unlock(.of(text("passcode"))), from: .owner)
            try engine.changePasscode(from: text("passcode"), to: text("second passcode"), rekey: true)
        case .damaged: return try useDamaged(engine)
        case .removed: try remove(from: engine)
        }
        return []
    }

    private func add(to engine: any RequestHandler) throws {
        for request in [password, internetPassword, certificate, key] {
            _ = try engine.handle(.add(request), from: caller)
        }
    }

    private func find(in engine: any RequestHandler) throws -> [String] {
        for itemClass in [ItemClass.genericPassword, .internetPassword, .certificate, .key] {
            var all = ItemQuery(itemClass)
            all.limit = .all
            _ = try engine.handle(.find(FindRequest(all, wantsSecrets: true)), from: caller)
        }
        _ = try engine.handle(.find(FindRequest(query("account"), wantsSecrets: true)), from: caller)
        return [try failure(.find(FindRequest(query("absent account"), wantsSecrets: true)), on: engine, from: caller)]
    }

    private func update(_ engine: any RequestHandler) throws {
        var changes = ItemChanges()
        changes.attributes = [.label: value("second label"), .comment: data("comment")]
        changes.secret = .of(text("second secret"))
        _ = try engine.handle(.update(UpdateRequest(query("account"), changes: changes)), from: caller)
    }

    private func refusals(of engine: any RequestHandler) throws -> [String] {
        var duplicate = password
        duplicate.secret = .of(text("refused secret"))
        var foreign = duplicate
        foreign.accessGroup = text("foreign group")
        var inconsistent = duplicate
        inconsistent.attributes[.account] = value("absent account")
        inconsistent.synchronizable = true
        inconsistent.accessControl = try AccessControl(.whenUnlocked, flags: .userPresence)
        var other = password
        other.attributes[.account] = value("second account")
        _ = try engine.handle(.add(other), from: caller)
        var clash = ItemChanges()
        clash.attributes = [.account: value("second account")]
        var elsewhere = query("account")
        elsewhere.accessGroup = text("foreign group")
        let requests: [Request] = [
            .add(duplicate), .add(foreign), .add(inconsistent),
            .update(UpdateRequest(query("account"), changes: clash)),
            .update(UpdateRequest(query("absent account"), changes: clash)), .delete(query("absent account")),
            .find(FindRequest(elsewhere, wantsSecrets: true)),
            .passcode(.change(old: .of(text("wrong passcode")), new: .of(""), rekey: false)),
        ]
        return try requests.map { try failure($0, on: engine, from: caller) }
    }

    private func lock(_ engine: any RequestHandler) throws -> [String] {
        _ = try engine.handle(.lock(.withGrace), from: .owner)
        var request = password
        request.attributes[.account] = value("absent account")
        request.secret = .of(text("locked secret"))
        return try [.add(request), .find(FindRequest(query("account"), wantsSecrets: true))].map {
            try failure($0, on: engine, from: caller)
        }
    }

    /// Somebody damaged the items' secrets.
    private func useDamaged(_ engine: any RequestHandler) throws -> [String] {
        var findings = ""
        if case .checked(let found) = try engine.handle(.check, from: .owner) { dump(found, to: &findings) }
        return [
            findings, try failure(.find(FindRequest(query("account"), wantsSecrets: true)), on: engine, from: caller),
        ]
    }

    private func remove(from engine: any RequestHandler) throws {
        for itemClass in [ItemClass.genericPassword, .internetPassword, .certificate, .key] {
            var all = ItemQuery(itemClass)
            all.limit = .all
            _ = try engine.handle(.delete(all), from: caller)
        }
    }

    /// Everything that the error of a call which must fail says of itself, however it is looked at.
    private func failure(_ request: Request, on engine: any RequestHandler, from caller: Caller) throws -> String {
        do throws(KeychainError) { _ = try engine.handle(request, from: caller) } catch {
            var text = "\(error) \(error.message) \(String(reflecting: error)) \(error.cause.map { "\($0)" } ?? "")"
            dump(error, to: &text)
            return text
        }
        throw KeychainError(.internalFailure, message: "a call that must fail succeeded")
    }
}

// MARK: - Items

extension NeedleWork {
    private func query(_ account: String) -> ItemQuery {
        var query = ItemQuery(.genericPassword)
        query.attributes = [.account: value(account), .service: value("service")]
        return query
    }

    private var password: AddRequest {
        var request = AddRequest(.genericPassword)
        request.attributes = [
            .account: value("account"), .service: value("service"), .label: value("label"), .comment: value("comment"),
            .description: value("description"), .alias: value("alias"), .generic: data("generic data"),
            .viewHint: value("view hint"),
        ]
        request.secret = .of(text("secret"))
        return request
    }

    private var internetPassword: AddRequest {
        var request = AddRequest(.internetPassword)
        request.attributes = [
            .account: value("account"), .server: value("server"), .securityDomain: value("security domain"),
            .path: value("path"), .label: value("label"),
        ]
        request.secret = .of(text("internet secret"))
        return request
    }

    private var certificate: AddRequest {
        var request = AddRequest(.certificate)
        request.attributes = [
            .subject: data("subject"), .issuer: data("issuer"), .serialNumber: data("serial number"),
            .publicKeyHash: data("public key hash"), .subjectKeyID: data("subject key"), .label: value("label"),
        ]
        request.secret = .of(text("certificate bytes"))
        return request
    }

    private var key: AddRequest {
        var request = AddRequest(.key)
        request.attributes = [
            .applicationTag: data("application tag"), .applicationLabel: data("application label"),
            .label: value("label"),
        ]
        request.secret = .of(text("key secret"))
        return request
    }
}
