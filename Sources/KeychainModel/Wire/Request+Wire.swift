internal import Foundation
internal import SwiftProtobuf

private typealias Kind = WireClientMessage.OneOf_Kind

extension WireClientMessage.OneOf_Kind {
    init(_ request: Request, _ secrets: inout [SecretBytes]) {
        self =
            switch request {
            case .add(let request): .add(WireAdd(request, &secrets))
            case .find(let request): .find(WireQuery(request))
            case .update(let request): .update(WireUpdate(request, &secrets))
            case .delete(let query): .delete(WireQuery(query))
            case .status: .status(WireNothing())
            case .check: .check(WireNothing())
            case .compact: .compact(WireNothing())
            case .lockStatus: .lockStatus(WireNothing())
            case .unlock(let passcode): .unlock(.with { $0.passcodeSize = secrets.size(adding: passcode) })
            case .lock(let request): .lock(.with { $0.now = request == .now })
            case .passcode(let request): Kind(request, &secrets)
            case .rekeyStep: .rekeyStep(WireNothing())
            case .renewLease: .renewLease(WireNothing())
            case .exportItems(let request): .exportItems(WireExportItems(request))
            case .importItems(let request): .importItems(WireImportItems(request, &secrets))
            case .giveUpStore: .giveUpStore(WireNothing())
            case .authenticationStatus: .authenticationStatus(WireNothing())
            case .endTicket(let ticket): .endTicket(.with { $0.ticket = ticket.identifier.wireBytes })
            case .authenticated: preconditionFailure("what a proof is for is never itself one")
            case .fileKey(.make(let fileClass, let fileID)): .makeFileKey(WireMakeFileKey(fileClass, fileID))
            case .fileKey(.open(let wrapped)): .openFileKey(WireWrappedFileKey(wrapped))
            case .fileKey(.rewrap(let wrapped, let fileClass)): .rewrapFileKey(WireRewrapFileKey(wrapped, fileClass))
            case .fileKey(.adopt(let key, let fileClass, let fileID)):
                .adoptFileKey(WireAdoptFileKey(key, fileClass, fileID, &secrets))
            case .backUpFileKeys(let request): .backUpFileKeys(WireBackUpFileKeys(request, &secrets))
            }
    }

    private init(_ request: PasscodeRequest, _ secrets: inout [SecretBytes]) {
        switch request {
        case .set(let passcode):
            self = .setPasscode(.with { $0.passcodeSize = secrets.size(adding: passcode) })
        case .change(let old, let new, let rekey):
            var change = WireChangePasscode()
            change.oldSize = secrets.size(adding: old)
            change.newSize = secrets.size(adding: new)
            change.rekey = rekey
            self = .changePasscode(change)
        case .remove(let old):
            self = .removePasscode(.with { $0.oldSize = secrets.size(adding: old) })
        case .setPolicy(let policy, let passcode):
            var wire = WireSetPolicy()
            if let limit = policy.idleLimit { wire.idleLimit = Int64(limit) }
            wire.erasesAfterTenFailures = policy.erasesAfterTenFailures
            wire.passcodeSize = secrets.size(adding: passcode)
            self = .setPolicy(wire)
        }
    }
}

extension Request {
    /// - Throws: what is wrong with it.
    init(_ wire: WireClientMessage.OneOf_Kind, _ tail: inout WireTail) throws(KeychainError) {
        switch wire {
        case .add(let add): self = .add(try AddRequest(add, &tail))
        case .find(let find): self = .find(try FindRequest(find))
        case .update(let update): self = .update(try UpdateRequest(update, &tail))
        case .delete(let query): self = .delete(try ItemQuery(query))
        case .status: self = .status
        case .check: self = .check
        case .compact: self = .compact
        case .lockStatus: self = .lockStatus
        case .unlock(let unlock): self = .unlock(try tail.takePasscode(unlock.hasPasscodeSize, unlock.passcodeSize))
        case .lock(let lock): self = .lock(lock.now ? .now : .withGrace)
        case .setPasscode(let set):
            self = .passcode(.set(try tail.takePasscode(set.hasPasscodeSize, set.passcodeSize)))
        case .changePasscode(let change):
            let old = try tail.takePasscode(change.hasOldSize, change.oldSize)
            let new = try tail.takePasscode(change.hasNewSize, change.newSize)
            self = .passcode(.change(old: old, new: new, rekey: change.rekey))
        case .removePasscode(let remove):
            self = .passcode(.remove(old: try tail.takePasscode(remove.hasOldSize, remove.oldSize)))
        case .setPolicy(let set): self = .passcode(try PasscodeRequest(set, &tail))
        case .rekeyStep: self = .rekeyStep
        case .renewLease: self = .renewLease
        case .exportItems(let export): self = .exportItems(ExportRequest(export))
        case .importItems(let items): self = .importItems(try ImportRequest(items, &tail))
        case .giveUpStore: self = .giveUpStore
        case .makeFileKey(let make): self = .fileKey(try FileKeyRequest(make))
        case .openFileKey(let wrapped): self = .fileKey(.open(try WrappedFileKey(wrapped)))
        case .rewrapFileKey(let rewrap): self = .fileKey(try FileKeyRequest(rewrap))
        case .adoptFileKey(let adopt): self = .fileKey(try FileKeyRequest(adopt, &tail))
        case .backUpFileKeys(let request): self = .backUpFileKeys(try FileKeyBackupRequest(request, &tail))
        case .authenticationStatus: self = .authenticationStatus
        case .endTicket(let end): self = .endTicket(BiometryTicket(try UUID(wireBytes: end.ticket)))
        case .hello, .subscribe, .verifyBiometry: throw KeychainError(.parameter, message: "the message is no request")
        }
    }
}

extension PasscodeRequest {
    /// - Throws: `.parameter` for an idle limit that none can be.
    fileprivate init(_ wire: WireSetPolicy, _ tail: inout WireTail) throws(KeychainError) {
        let idleLimit = wire.hasIdleLimit ? Int(wire.idleLimit) : nil
        if let idleLimit, !PasscodePolicy.idleLimits.contains(idleLimit) { throw .invalidIdleLimit }
        self = .setPolicy(
            PasscodePolicy(idleLimit: idleLimit, erasesAfterTenFailures: wire.erasesAfterTenFailures),
            passcode: try tail.takePasscode(wire.hasPasscodeSize, wire.passcodeSize))
    }
}

extension WireTail {
    fileprivate mutating func takePasscode(_ isThere: Bool, _ size: UInt64) throws(KeychainError) -> SecretBytes {
        try take("passcode", isThere ? size : nil)
    }
}
