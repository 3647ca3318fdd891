package import FoundationEssentials

/// Everything a caller can ask of an engine.
package enum Request: Sendable {
    case add(AddRequest)
    case find(FindRequest)
    /// Finds the items that a name means, in one request instead of a search for each of its meanings.
    case resolve(ResolveRequest)
    case update(UpdateRequest)
    case delete(ItemQuery)
    case transaction(TransactionRequest)
    /// Makes a key in the engine. The request names attributes; the engine adds the secret and the kind of key.
    case makeKey(AddRequest)
    case useKey(KeyUse)
    case status
    case check
    /// Gives the space of deleted items back to the disk, by writing the database anew. The request is for the store's
    /// owner alone.
    case compact
    /// Removes the bytes of the items that have expired for good.
    case removeExpired
    /// Deletes these of the items that have expired by the present clock; with an empty list, names all that have. The
    /// request is for the store's owner alone.
    case expiredItems(deleting: [UUID])
    case lockStatus
    /// Brings the keys that a passcode protects into reach, until they are locked away again.
    case unlock(SecretBytes)
    case lock(LockRequest)
    case passcode(PasscodeRequest)
    /// Does a part of a renewal of all keys that is under way.
    case rekeyStep
    /// A watcher says that it is there, and will be for the next minute.
    case renewLease
    case exportItems(ExportRequest)
    case importItems(ImportRequest)
    /// Deletes items that another host has now, if each of them is still in this version. Answered with false: nothing was
    /// deleted. The request is for the store's owner alone.
    case removeMoved([ItemVersion])
    /// The daemon's store goes back to the programs themselves, and the daemon ends. The request is for the store's
    /// owner alone.
    case giveUpStore
    case fileKey(FileKeyRequest)
    case backUpFileKeys(FileKeyBackupRequest)
    /// The factors that a person could be asked for. With a proof around it, the reply tells whether the proof's
    /// passcode is right.
    case authenticationStatus
    /// The ticket is worth nothing from now on.
    case endTicket(BiometryTicket)
    /// A request with a proof. The request within has no proof of its own.
    indirect case authenticated(AuthenticationProof, Request)
}

/// The answers of an engine.
package enum Reply: Sendable {
    case added(Item)
    case found([Item])
    case resolved(Resolution)
    /// The number of deleted items.
    case deleted(Int)
    /// false: something was not as it was seen, and nothing was changed.
    case committed(Bool)
    /// A signature (r ‖ s), or the X coordinate of a common point.
    case keyResult(SecretBytes)
    case expired(ExpirySweep)
    case done
    case status(StoreStatus)
    case checked([StoreFinding])
    case lockStatus(LockStatus)
    case rekeyed(RekeyProgress)
    case exported(ExportedPart)
    /// The outcome of each item of the request.
    case imported([ImportOutcome])
    case fileKey(FileKey)
    case fileKeyBackup(Data)
    case authenticationStatus(AuthenticationStatus)
    /// The request was not carried out: it is to come again, with the missing proof.
    case authenticationNeeded(AuthenticationChallenge)
}

package struct AddRequest: Sendable {
    package var itemClass: ItemClass
    package var attributes = AttributeSet()
    /// nil: the caller's first writable group.
    package var accessGroup: String?
    package var synchronizable = false
    /// nil: the class's default protection and no constraint.
    package var accessControl: AccessControl?
    /// nil: the item never expires; in the put of a transaction, an item that is there keeps its date.
    package var expires: ItemExpiry?
    package var secret: SecretBytes?

    package init(_ itemClass: ItemClass) { self.itemClass = itemClass }
}

package struct FindRequest: Sendable {
    package var query: ItemQuery
    /// Whether the secrets are wanted; without this none is ever decrypted.
    package var wantsSecrets: Bool

    package init(_ query: ItemQuery, wantsSecrets: Bool) {
        self.query = query
        self.wantsSecrets = wantsSecrets
    }
}

package struct UpdateRequest: Sendable {
    package var query: ItemQuery
    package var changes = ItemChanges()

    package init(_ query: ItemQuery, changes: ItemChanges) {
        self.query = query
        self.changes = changes
    }
}

/// The new values of an update; a property that is nil stays as it is.
package struct ItemChanges: Sendable {
    package var attributes = AttributeSet()
    package var accessGroup: String?
    package var synchronizable: Bool?
    package var accessControl: AccessControl?
    /// The moment of creation, which Apple's keychain lets an update rewrite.
    package var created: Double?
    package var expires: ItemExpiry?
    package var secret: SecretBytes?

    package init() {}
}

/// The facts that `keychainctl status` prints.
package struct StoreStatus: Sendable {
    package var storePath: String
    package var storeID: UUID
    /// The version of its tables.
    package var schemaVersion: Int
    /// The latest version that the engine can make of it.
    package var knownSchemaVersion: Int
    /// The first release whose programs open it; empty: a daemon does not say so.
    package var leastRelease: String
    package var itemCounts: [ItemClass: Int]
    package var bytesOnDisk: Int64
    package var deviceKey: DeviceKeyOrigin
    package var keyMemory: KeyMemoryKind
    package var lock: LockStatus

    package init(
        storePath: String, storeID: UUID, schemaVersion: Int, knownSchemaVersion: Int, leastRelease: String,
        itemCounts: [ItemClass: Int], bytesOnDisk: Int64, deviceKey: DeviceKeyOrigin, keyMemory: KeyMemoryKind,
        lock: LockStatus
    ) {
        self.storePath = storePath
        self.storeID = storeID
        self.schemaVersion = schemaVersion
        self.knownSchemaVersion = knownSchemaVersion
        self.leastRelease = leastRelease
        self.itemCounts = itemCounts
        self.bytesOnDisk = bytesOnDisk
        self.deviceKey = deviceKey
        self.keyMemory = keyMemory
        self.lock = lock
    }
}

package enum DeviceKeyOrigin: Sendable, Hashable {
    case file(String)
    /// systemd's credential, at this path.
    case credential(String)
}

/// The result of a damaged store's repair.
package struct RepairReport: Sendable, Hashable {
    /// Items that are in the new store.
    package var savedCount: Int
    /// Items of which something was found that does not open. They are in the old store alone.
    package var unreadableCount: Int
    package var oldStorePath: String

    package init(savedCount: Int, unreadableCount: Int, oldStorePath: String) {
        self.savedCount = savedCount
        self.unreadableCount = unreadableCount
        self.oldStorePath = oldStorePath
    }
}

/// Something `keychainctl doctor` found wrong.
package struct StoreFinding: Sendable, Hashable {
    /// From the mildest to the worst.
    package enum Severity: String, Sendable, CaseIterable { case note, warning, damage }
    package var severity: Severity
    /// The fault, for a person.
    package var text: String
    package var advice: String
    /// Whether a repair does something about it.
    package var isRepairable: Bool

    package init(_ severity: Severity, _ text: String, advice: String, isRepairable: Bool = false) {
        self.severity = severity
        self.text = text
        self.advice = advice
        self.isRepairable = isRepairable
    }

    /// The effect of a repair, as advice for every finding that it mends.
    package static let repairAdvice =
        "put keychain.db back from a backup, or stop the programs that use the keychain and run 'keychainctl doctor "
        + "--repair': it saves what can be read and keeps the damaged store beside it"
}

extension [StoreFinding] {
    package mutating func add(
        _ severity: StoreFinding.Severity, _ text: String, advice: String, isRepairable: Bool = false
    ) {
        append(StoreFinding(severity, text, advice: advice, isRepairable: isRepairable))
    }
}
