internal import KeychainModel

extension Request {
    var kind: ClientMessage.Kind {
        switch self {
        case .add: .add
        case .find: .find
        case .resolve: .resolve
        case .update: .update
        case .delete: .delete
        case .transaction: .transaction
        case .makeKey: .makeKey
        case .useKey: .useKey
        case .status: .status
        case .check: .check
        case .compact: .compact
        case .removeExpired: .removeExpired
        case .expiredItems: .expiredItems
        case .lockStatus: .lockStatus
        case .unlock: .unlock
        case .lock: .lock
        case .passcode(.set): .setPasscode
        case .passcode(.change): .changePasscode
        case .passcode(.remove): .removePasscode
        case .passcode(.setPolicy): .setPolicy
        case .rekeyStep: .rekeyStep
        case .renewLease: .renewLease
        case .exportItems: .exportItems
        case .importItems: .importItems
        case .removeMoved: .removeMoved
        case .giveUpStore: .giveUpStore
        case .fileKey(.make): .makeFileKey
        case .fileKey(.open): .openFileKey
        case .fileKey(.rewrap): .rewrapFileKey
        case .fileKey(.adopt): .adoptFileKey
        case .backUpFileKeys: .backUpFileKeys
        case .authenticationStatus: .authenticationStatus
        case .endTicket: .endTicket
        case .authenticated: preconditionFailure("what a proof is for is never itself one")
        }
    }

    func write(to message: inout MessageWriter) {
        switch self {
        case .add(let request): request.write(to: &message)
        case .find(let request): request.write(to: &message)
        case .resolve(let request): request.write(to: &message)
        case .update(let request): request.write(to: &message)
        case .delete(let query): query.write(to: &message)
        case .transaction(let request): request.write(to: &message)
        case .makeKey(let request): request.write(to: &message)
        case .useKey(let use): use.write(to: &message)
        case .unlock(let passcode): message.add(1, secret: passcode)
        case .lock(let request): message.add(1, request == .now)
        case .passcode(let request): request.write(to: &message)
        case .exportItems(let request): request.write(to: &message)
        case .importItems(let request): request.write(to: &message)
        case .removeMoved(let items): for item in items { message.add(1, message: item) }
        case .fileKey(let request): request.write(to: &message)
        case .backUpFileKeys(let request): request.write(to: &message)
        case .endTicket(let ticket): ticket.write(to: &message)
        case .expiredItems(deleting: let items): message.add(1, each: items)
        case .status, .check, .compact, .removeExpired, .lockStatus, .rekeyStep, .renewLease, .giveUpStore,
            .authenticationStatus,
            .authenticated:
            break
        }
    }

    /// - Throws: the fault of the request.
    init(
        _ kind: ClientMessage.Kind, _ message: MessageReader, _ tail: inout WireTail
    ) throws(KeychainError) {
        switch kind {
        case .add: self = .add(try AddRequest(message, &tail))
        case .find: self = .find(try FindRequest(message, &tail))
        case .resolve: self = .resolve(try ResolveRequest(message, &tail))
        case .update: self = .update(try UpdateRequest(message, &tail))
        case .delete: self = .delete(try ItemQuery(message, &tail))
        case .transaction: self = .transaction(try TransactionRequest(message, &tail))
        case .makeKey: self = .makeKey(try AddRequest(message, &tail))
        case .useKey: self = .useKey(try KeyUse(message, &tail))
        case .status: self = .status
        case .check: self = .check
        case .compact: self = .compact
        case .removeExpired: self = .removeExpired
        case .expiredItems: self = .expiredItems(deleting: try message.list(1, most: 1_000_000, "items"))
        case .lockStatus: self = .lockStatus
        case .unlock: self = .unlock(try tail.takePasscode(message.value(1)))
        case .lock: self = .lock(try message.value(1) ?? false ? .now : .withGrace)
        case .setPasscode: self = .passcode(.set(try tail.takePasscode(message.value(1))))
        case .changePasscode:
            let (old, new) = (try tail.takePasscode(message.value(1)), try tail.takePasscode(message.value(2)))
            self = .passcode(.change(old: old, new: new, rekey: try message.value(3) ?? false))
        case .removePasscode: self = .passcode(.remove(old: try tail.takePasscode(message.value(1))))
        case .setPolicy: self = .passcode(try .setPolicy(message, &tail))
        case .rekeyStep: self = .rekeyStep
        case .renewLease: self = .renewLease
        case .exportItems: self = .exportItems(try ExportRequest(message, &tail))
        case .importItems: self = .importItems(try ImportRequest(message, &tail))
        case .removeMoved:
            self = .removeMoved(try message.list(1, &tail, most: ImportRequest.mostItems, "items"))
        case .giveUpStore: self = .giveUpStore
        case .makeFileKey: self = .fileKey(try .make(message))
        case .openFileKey: self = .fileKey(.open(try WrappedFileKey(message, &tail)))
        case .rewrapFileKey: self = .fileKey(try .rewrap(message, &tail))
        case .adoptFileKey: self = .fileKey(try .adopt(message, &tail))
        case .backUpFileKeys: self = .backUpFileKeys(try FileKeyBackupRequest(message, &tail))
        case .authenticationStatus: self = .authenticationStatus
        case .endTicket: self = .endTicket(try BiometryTicket(message, &tail))
        case .hello, .subscribe, .verifyBiometry: throw KeychainError(.parameter, message: "the message is no request")
        }
    }
}

extension PasscodeRequest {
    fileprivate func write(to message: inout MessageWriter) {
        switch self {
        case .set(let passcode), .remove(old: let passcode): message.add(1, secret: passcode)
        case .change(let old, let new, let rekey):
            message.add(1, secret: old)
            message.add(2, secret: new)
            message.add(3, rekey)
        case .setPolicy(let policy, let passcode):
            message.add(1, ifAny: policy.idleLimit.map { Int64($0) })
            message.add(2, policy.erasesAfterTenFailures)
            message.add(3, secret: passcode)
            message.add(4, ifAny: policy.timeAfterLock.map { Int64($0) })
        }
    }

    /// - Throws: `.parameter` for times that no store can have.
    fileprivate static func setPolicy(
        _ message: MessageReader, _ tail: inout WireTail
    ) throws(KeychainError) -> PasscodeRequest {
        let idleLimit: Int64? = try message.value(1)
        let timeAfterLock: Int64? = try message.value(4)
        let policy = PasscodePolicy(
            idleLimit: idleLimit.map { Int($0) }, erasesAfterTenFailures: try message.value(2) ?? false,
            timeAfterLock: timeAfterLock.map { Int($0) })
        try policy.requireTimes()
        return .setPolicy(policy, passcode: try tail.takePasscode(message.value(3)))
    }
}

extension WireTail {
    fileprivate mutating func takePasscode(_ size: UInt64?) throws(KeychainError) -> SecretBytes {
        try take("passcode", size)
    }
}
