import Foundation
import KeychainModel
import KeychainWire

enum ReplyKind: CaseIterable {
    case added, found, resolved, deleted, done, status, checked, lockStatus, rekeyed, exported, imported, fileKey,
        fileKeyBackup,
        authenticationStatus, authenticationNeeded, committed, expired, keyResult

    init(_ reply: Reply) {
        self =
            switch reply {
            case .added: .added
            case .found: .found
            case .resolved: .resolved
            case .deleted: .deleted
            case .done: .done
            case .status: .status
            case .checked: .checked
            case .lockStatus: .lockStatus
            case .rekeyed: .rekeyed
            case .exported: .exported
            case .imported: .imported
            case .fileKey: .fileKey
            case .fileKeyBackup: .fileKeyBackup
            case .authenticationStatus: .authenticationStatus
            case .authenticationNeeded: .authenticationNeeded
            case .committed: .committed
            case .expired: .expired
            case .keyResult: .keyResult
            }
    }
}

enum ReplySamples {
    /// Nothing in them is nil, empty, zero or false.
    static var full: [Reply] {
        [
            .added(RequestSamples.item), .found([RequestSamples.item, RequestSamples.item]), .status(status),
            .checked([
                StoreFinding(.note, "a", advice: "b", isRepairable: true),
                StoreFinding(.warning, "c", advice: "d", isRepairable: true),
                StoreFinding(.damage, "e", advice: "f", isRepairable: true),
            ]),
            .resolved(resolution), .deleted(3), .committed(true), .keyResult(SecretBytes(RequestSamples.needles[0])),
            .expired(ExpirySweep(removedCount: 3, next: RequestSamples.expiryDate)), .lockStatus(lock),
            .rekeyed(RekeyProgress(done: 1, total: 2, isFinished: true)),
            .exported(part),
            .imported(ImportOutcome.allCases), .fileKey(fileKey(RequestSamples.wrappedFileKey)),
            .fileKeyBackup(Data(1...200)),
            .authenticationStatus(
                AuthenticationStatus(hasPasscode: true, biometry: .notEnrolled(.fingerprint, "enrol"))),
            .authenticationNeeded(AuthenticationChallenge([Set(AuthenticationFactor.allCases), [.biometry]])),
        ]
    }

    static var bare: [Reply] {
        [
            .added(RequestSamples.bareItem), .found([]), .resolved(Resolution()), .found([RequestSamples.bareItem]),
            .deleted(0), .done,
            .status(bareStatus),
            .checked([]), .lockStatus(bareLock), .rekeyed(RekeyProgress(done: 0, total: 0, isFinished: false)),
            .exported(ExportedPart()), .imported([]), .fileKey(fileKey(RequestSamples.bareWrappedFileKey)),
            .fileKeyBackup(Data()), .committed(false), .expired(ExpirySweep(removedCount: 0, next: nil)),
            .authenticationNeeded(AuthenticationChallenge([[.passcode]])),
        ]
            + [.ready(RequestSamples.enrolment), .lockedOut(.face), .notAvailable("")].map {
                .authenticationStatus(AuthenticationStatus(hasPasscode: false, biometry: $0))
            }
    }

    static var all: [Reply] { full + bare }

    static var resolution: Resolution {
        var resolution = Resolution()
        resolution.matches = [
            Resolution.Match(RequestSamples.item, query: 1), Resolution.Match(RequestSamples.item, query: 15),
        ]
        resolution.asking = [1, 2]
        return resolution
    }

    static func fileKey(_ wrapped: WrappedFileKey) -> FileKey {
        FileKey(wrapped: wrapped, key: SecretBytes(RequestSamples.fileKey))
    }

    static var part: ExportedPart {
        var part = ExportedPart()
        part.items = [RequestSamples.item]
        part.leftOut.thisDeviceOnly = 1
        part.leftOut.constrained = 2
        part.leftOut.ofTokens = 3
        part.leftOut.unreadable = 4
        part.hasFiles = true
        part.next = .max
        return part
    }

    static let lock = LockStatus(
        state: .locked, hasPasscode: true, keyPlace: .process, isWatched: true, idleLimit: 1,
        erasesAfterTenFailures: true, failedAttempts: 9, secondsUntilNextAttempt: 0.1, isRekeying: true, epoch: .max,
        isLocking: true, isWithinGrace: true, timeAfterLock: 86_400, timeLeftAfterLock: 1)

    static let bareLock = LockStatus(
        state: .neverUnlocked, hasPasscode: false, keyPlace: .keyring, isWatched: false, idleLimit: nil,
        erasesAfterTenFailures: false, failedAttempts: 0, secondsUntilNextAttempt: 0, isRekeying: false, epoch: 0)

    static let status = StoreStatus(
        storePath: "/store", storeID: RequestSamples.identifier, schemaVersion: 3, knownSchemaVersion: 4,
        leastRelease: "0.1",
        itemCounts: Dictionary(uniqueKeysWithValues: ItemClass.allCases.map { ($0, Int($0.number)) }),
        bytesOnDisk: 1 << 40, deviceKey: .credential("/key"), keyMemory: .secret, lock: lock)

    static let bareStatus = StoreStatus(
        storePath: "", storeID: UUID(), schemaVersion: 0, knownSchemaVersion: 0, leastRelease: "",
        itemCounts: [:], bytesOnDisk: 0, deviceKey: .file(""), keyMemory: .ordinary, lock: bareLock)
}

/// What a daemon says besides.
enum DaemonMessageKind: CaseIterable {
    case welcome, reply, failure, lockEvent, itemEvent, goodbye, biometry, biometryHint, working

    init(_ message: DaemonMessage) {
        self =
            switch message {
            case .welcome: .welcome
            case .reply: .reply
            case .failure: .failure
            case .event(_, .lock): .lockEvent
            case .event(_, .items): .itemEvent
            case .goodbye: .goodbye
            case .biometry: .biometry
            case .biometryHint: .biometryHint
            case .working: .working
            }
    }
}

enum DaemonMessageSamples {
    static var full: [DaemonMessage] {
        [
            .welcome(
                DaemonWelcome(
                    version: .max, instance: RequestSamples.identifier, processID: .max, release: "1.2.3",
                    givesSigns: true, nonce: Data([1]),
                    caller: CallerDescription(
                        kind: .setgid, name: "mailers", groups: ["G"], evidence: ["egid 7"], pid: .max, uid: .max))),
            .failure(id: .max, failure), .event(id: 1, .lock(ReplySamples.lock)),
            .event(id: .max, .items(.certificate, accessGroup: "group")),
            .biometryHint(id: .max, BiometryHint("touch it")),
            .biometry(id: .max, .failure(.notAvailable("none"))),
        ]
            + DaemonGoodbye.Reason.allCases.map {
                .goodbye(DaemonGoodbye($0, "do this", lastRequest: .max, isLocked: true, hasNoPasscode: true))
            }
            + ReplySamples.full.map { .reply(id: .max, $0, isLast: true) }
    }

    static var bare: [DaemonMessage] {
        [
            .welcome(DaemonWelcome(version: 0, instance: UUID(), processID: 0, release: "")),
            .welcome(
                DaemonWelcome(
                    version: 0, instance: UUID(), processID: 0, release: "",
                    caller: CallerDescription(kind: .unconfined, groups: [], evidence: [], pid: 0, uid: 0))),
            .failure(id: 1, KeychainError(.parameter, message: "")), .event(id: 1, .lock(ReplySamples.bareLock)),
            .event(id: 1, .items(.genericPassword, accessGroup: "")), .goodbye(DaemonGoodbye(.noStore, "")),
            .biometryHint(id: 1, BiometryHint("")),
            .biometry(id: 1, .success(BiometryTicket(RequestSamples.identifier))),
        ] + biometryFailures.map { .biometry(id: 1, .failure($0)) }
            + ReplySamples.bare.map { .reply(id: 1, $0, isLast: false) }
    }

    static var all: [DaemonMessage] { full + bare + [.working(id: 1), .working(id: .max)] }

    private static let biometryFailures: [BiometryFailure] = [
        .notAvailable(""), .notEnrolled("a"), .busy("b"), .noMatch, .lockedOut, .cancelled, .timedOut, .failed("c"),
    ]

    static var failure: KeychainError {
        var error = KeychainError(.inputOutput, message: "what to do")
        error.signal = .damage
        return error
    }
}

enum ClientMessageSamples {
    static var all: [ClientMessage] {
        [
            .hello(
                ClientHello(version: .max, groups: ["b", "a", "é", "e\u{301}"], authority: .owner, hearsSigns: true)),
            .hello(ClientHello(version: 0, groups: [], authority: .groups)), .subscribe(id: 1), .subscribe(id: .max),
            .verifyBiometry(id: 1), .verifyBiometry(id: .max),
            .subscribe(id: 2, delaysLocks: true),
        ] + RequestSamples.all.map { .request(id: .max, $0) }
    }
}
