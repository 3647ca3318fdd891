import Foundation
import KeychainModel

/// One for each case of what can be asked. The compiler asks for a new one with each new case, and a test that there is
/// a sample of it.
enum RequestKind: CaseIterable {
    case add, find, update, delete, status, check, compact, lockStatus, unlock, lock, setPasscode, changePasscode,
        removePasscode, setPolicy, rekeyStep, renewLease, exportItems, importItems, giveUpStore,
        makeFileKey, openFileKey, rewrapFileKey, adoptFileKey, backUpFileKeys, authenticationStatus, endTicket,
        transaction, removeExpired, makeKey, useKey, expiredItems, resolve, removeMoved, authenticated

    init(_ request: Request) {
        self =
            switch request {
            case .add: .add
            case .find: .find
            case .update: .update
            case .delete: .delete
            case .status: .status
            case .check: .check
            case .compact: .compact
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
            case .giveUpStore: .giveUpStore
            case .fileKey(.make): .makeFileKey
            case .fileKey(.open): .openFileKey
            case .fileKey(.rewrap): .rewrapFileKey
            case .fileKey(.adopt): .adoptFileKey
            case .backUpFileKeys: .backUpFileKeys
            case .authenticationStatus: .authenticationStatus
            case .endTicket: .endTicket
            case .transaction: .transaction
            case .removeExpired: .removeExpired
            case .makeKey: .makeKey
            case .useKey: .useKey
            case .expiredItems: .expiredItems
            case .resolve: .resolve
            case .removeMoved: .removeMoved
            case .authenticated: .authenticated
            }
    }
}

/// In all of them the secrets are those of `needles`.
enum RequestSamples {
    static let needles = ["needle of a secret", "needle of a certificate", "needle of a second secret", fileKey]
    /// As long as the key of a file has to be.
    static let fileKey = "needle of a file key of 32 bytes"

    /// Nothing in them is nil, empty, zero or false.
    static var full: [Request] {
        [
            .add(add), .find(FindRequest(query, wantsSecrets: true)), .update(UpdateRequest(query, changes: changes)),
            .delete(query), .unlock(SecretBytes(needles[0])), .lock(.now), .passcode(.set(SecretBytes(needles[0]))),
            .passcode(.change(old: SecretBytes(needles[0]), new: SecretBytes(needles[2]), rekey: true)),
            .passcode(.remove(old: SecretBytes(needles[0]))),
            .passcode(
                .setPolicy(
                    PasscodePolicy(idleLimit: 300, erasesAfterTenFailures: true, timeAfterLock: 86_400),
                    passcode: SecretBytes(needles[0]))),
            .exportItems(ExportRequest(accessGroup: "group", start: .max, isMove: true)),
            .importItems(ImportRequest([item, item], isDryRun: true, isMove: true)),
            .removeMoved([ItemVersion(identifier: identifier, modified: 1.5)]),
            .fileKey(.make(.completeUnlessOpen, fileID: identifier)),
            .fileKey(.open(wrappedFileKey)), .fileKey(.rewrap(wrappedFileKey, .completeUntilFirstUserAuthentication)),
            .fileKey(.adopt(SecretBytes(fileKey), .completeUnlessOpen, fileID: identifier)),
            .backUpFileKeys(FileKeyBackupRequest(header: Data(1...83), key: SecretBytes(fileKey))),
            .endTicket(BiometryTicket(identifier)), .transaction(transaction), .makeKey(add),
            .expiredItems(deleting: [identifier, storeID]),
            .resolve(ResolveRequest([[named, named], [named]], amongReachable: true)),
            .useKey(KeyUse(keyReference, .sign(digest: Data(1...32)), authenticationUI: .fail)),
            .useKey(KeyUse(keyReference, .agree(point: Data(1...65)), authenticationUI: .skip)),
            .authenticated(
                AuthenticationProof(
                    passcode: SecretBytes(needles[2]), applicationPassword: SecretBytes(needles[1]),
                    ticket: BiometryTicket(identifier)), .add(add)),
        ]
    }

    /// As little in them as there can be.
    static var bare: [Request] {
        [
            .add(AddRequest(.certificate)), .find(FindRequest(ItemQuery(.identity), wantsSecrets: false)),
            .update(UpdateRequest(ItemQuery(.key), changes: ItemChanges())), .delete(ItemQuery(.internetPassword)),
            .status, .check, .compact, .removeExpired, .expiredItems(deleting: []), .resolve(ResolveRequest([])),
            .lockStatus,
            .unlock(SecretBytes("")),
            .lock(.withGrace),
            .passcode(.set(SecretBytes(""))),
            .passcode(.change(old: SecretBytes(""), new: SecretBytes(""), rekey: false)),
            .passcode(.remove(old: SecretBytes(""))),
            .passcode(.setPolicy(PasscodePolicy(), passcode: SecretBytes(""))),
            .rekeyStep, .renewLease, .exportItems(ExportRequest()), .importItems(ImportRequest([])), .giveUpStore,
            .removeMoved([]),
            .transaction(TransactionRequest(steps: [])), .makeKey(AddRequest(.key)),
            .useKey(KeyUse(keyReference, .sign(digest: Data()))),
            .fileKey(.make(.always, fileID: identifier)), .fileKey(.open(bareWrappedFileKey)),
            .fileKey(.rewrap(bareWrappedFileKey, .completeWhenUserInactive)), .authenticationStatus,
            .fileKey(.adopt(SecretBytes(fileKey), .always, fileID: identifier)),
            .backUpFileKeys(FileKeyBackupRequest(header: Data(count: 83), key: SecretBytes(fileKey))),
            .authenticated(AuthenticationProof(applicationPassword: SecretBytes("")), .authenticationStatus),
        ]
    }

    static var all: [Request] { full + bare }

    static var add: AddRequest {
        var request = AddRequest(.key)
        request.attributes = attributes
        request.accessGroup = "group"
        request.synchronizable = true
        request.accessControl = accessControl
        request.expires = .at(expiryDate)
        request.secret = SecretBytes(needles[0])
        return request
    }

    static var query: ItemQuery {
        var query = ItemQuery(.key)
        query.attributes = attributes
        query.accessGroup = "e\u{301}"
        query.protection = .whenPasscodeSetThisDeviceOnly
        query.created = -63_114_076_800.000_1
        query.modified = .leastNonzeroMagnitude
        query.synchronizable = .any
        query.persistentReference = PersistentReference(itemClass: .key, identifier: identifier)
        query.hostOrSubdomainOf = "example.org"
        query.limit = .atMost(7)
        query.authenticationUI = .skip
        query.expires = expiryDate
        return query
    }

    /// Without a date, which no query for a name has.
    static var named: ItemQuery {
        var query = query
        (query.created, query.modified, query.expires) = (nil, nil, nil)
        return query
    }

    static var transaction: TransactionRequest {
        let versions = [identifier, storeID].map { ItemVersion(identifier: $0, modified: 700_000_000.125) }
        return TransactionRequest(
            seen: [SeenItems(query, versions: versions), SeenItems(query, versions: [versions[1]])],
            steps: [.add(add), .put(addExpiringLater), .update(UpdateRequest(query, changes: changes)), .delete(query)])
    }

    static let keyReference = PersistentReference(itemClass: .key, identifier: identifier)

    static let expiryDate = ExpiryDate(milliseconds: 253_402_300_799_999)!  // the latest

    static var addExpiringLater: AddRequest {
        var request = add
        request.expires = .after(.max)
        return request
    }

    static var changes: ItemChanges {
        var changes = ItemChanges()
        changes.attributes = attributes
        changes.accessGroup = "é"
        changes.synchronizable = true
        changes.accessControl = accessControl
        changes.created = 1e15
        changes.expires = .never
        changes.secret = SecretBytes(needles[0])
        return changes
    }

    /// With attributes of each type of value.
    static let attributes: AttributeSet = [
        .label: .text("a label"), .applicationLabel: .data(Data([0, 0xff])), .keySizeInBits: .number(.min),
        .startDate: .date(-0.125), .applicationTag: .number(.max), .viewHint: .text("\u{0}\u{fb01}e\u{301}"),
    ]

    static let accessControl = try! AccessControl(
        .afterFirstUnlock, flags: [.biometryCurrentSet, .or, .devicePasscode, .applicationPassword]
    ).bound(to: enrolment).constrainingDeletion()
    static let enrolment = BiometryEnrolment(kind: .face, digest: Array(201...232))
    static let identifier = UUID(uuidString: "20212223-2425-4627-8829-2A2B2C2D2E2F")!

    static let storeID = UUID(uuidString: "30313233-3435-4637-8839-3A3B3C3D3E3F")!

    static var item: Item {
        Item(
            itemClass: .identity, identifier: identifier, attributes: attributes, accessGroup: "group",
            synchronizable: true, accessControl: accessControl, created: 700_000_000.25, modified: 1e-300,
            expires: expiryDate, secret: SecretBytes(needles[0]), certificate: SecretBytes(needles[1]))
    }

    static let wrappedFileKey = WrappedFileKey(
        fileID: identifier, storeID: storeID,
        fileClass: .completeUnlessOpen, generation: .max, publicKey: Data(1...32), wrappedKey: Data(101...140))

    static let bareWrappedFileKey = WrappedFileKey(
        fileID: identifier, storeID: identifier, fileClass: .complete, generation: 0, publicKey: Data(),
        wrappedKey: Data(count: 40))

    static var bareItem: Item {
        Item(
            itemClass: .genericPassword, identifier: identifier, attributes: [:], accessGroup: "",
            synchronizable: false, accessControl: AccessControl(.always), created: 0, modified: 0)
    }
}
