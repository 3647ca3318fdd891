internal import SwiftProtobuf

extension WireDaemonMessage {
    init(_ id: UInt64, _ reply: Reply, isLast: Bool, _ secrets: inout [SecretBytes]) {
        self.init()
        self.id = id
        more = !isLast
        items = reply.items.map { WireItem($0, &secrets) }
        kind =
            switch reply {
            case .added: .added(WireNothing())
            case .found: .found(WireNothing())
            case .deleted(let count): .deleted(.with { $0.count = Int64(count) })
            case .done: .done(WireNothing())
            case .status(let status): .status(WireStoreStatus(status))
            case .checked(let findings): .checked(.with { $0.findings = findings.map { WireFinding($0) } })
            case .lockStatus(let status): .lockStatus(WireLockStatus(status))
            case .rekeyed(let progress): .rekeyed(WireRekeyProgress(progress))
            case .exported(let part): .exported(WireExported(part))
            case .imported(let outcomes):
                .imported(.with { $0.outcomes = outcomes.map { WireImportOutcomes.Outcome($0) } })
            case .fileKey(let key): .fileKey(WireFileKey(key, &secrets))
            case .fileKeyBackup(let file): .fileKeyBackup(.with { $0.file = file })
            case .authenticationStatus(let status): .authenticationStatus(WireAuthenticationStatus(status))
            case .authenticationNeeded(let challenge): .authenticationNeeded(WireAuthenticationChallenge(challenge))
            }
    }
}

extension Reply {
    fileprivate var items: [FoundItem] {
        switch self {
        case .added(let item): [item]
        case .found(let items): items
        case .exported(let part): part.items
        case .deleted, .done, .status, .checked, .lockStatus, .rekeyed, .imported, .fileKey, .fileKeyBackup,
            .authenticationStatus, .authenticationNeeded:
            []
        }
    }

    /// - Throws: `.parameter` for what is no answer, or is wrong with one.
    init(
        _ wire: WireDaemonMessage.OneOf_Kind, _ items: [WireItem], _ tail: inout WireTail
    ) throws(KeychainError) {
        guard items.isEmpty || wire.comesWithItems else {
            throw KeychainError(.parameter, message: "items came with an answer that has none")
        }
        switch wire {
        case .added:
            guard items.count == 1 else {
                throw KeychainError(.parameter, message: "one item was added, and \(items.count) came back")
            }
            self = .added(try FoundItem(items[0], &tail))
        case .found: self = .found(try [FoundItem](items, &tail))
        case .exported(let part): self = .exported(try ExportedPart(part, items, &tail))
        case .deleted(let deleted): self = .deleted(try Int(wireCount: deleted.count))
        case .done: self = .done
        case .status(let status): self = .status(try StoreStatus(status))
        case .checked(let findings):
            self = .checked(try findings.findings.map { finding throws(KeychainError) in try StoreFinding(finding) })
        case .lockStatus(let status): self = .lockStatus(try LockStatus(status))
        case .rekeyed(let progress): self = .rekeyed(try RekeyProgress(progress))
        case .imported(let outcomes):
            self = .imported(
                try outcomes.outcomes.map { outcome throws(KeychainError) in try ImportOutcome(outcome) })
        case .fileKey(let key): self = .fileKey(try FileKey(key, &tail))
        case .fileKeyBackup(let backup): self = .fileKeyBackup(backup.file)
        case .authenticationStatus(let status): self = .authenticationStatus(try AuthenticationStatus(status))
        case .authenticationNeeded(let challenge):
            self = .authenticationNeeded(try AuthenticationChallenge(challenge))
        case .welcome, .goodbye, .failure, .lockEvent, .itemEvent, .biometry, .biometryHint:
            throw KeychainError(.parameter, message: "the message is no answer")
        }
    }
}

extension WireDaemonMessage.OneOf_Kind {
    fileprivate var comesWithItems: Bool {
        switch self {
        case .added, .found, .exported: true
        default: false
        }
    }
}
