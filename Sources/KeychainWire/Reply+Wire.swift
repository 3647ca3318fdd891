internal import FoundationEssentials
internal import KeychainModel

extension Reply {
    var kind: DaemonMessage.Kind {
        switch self {
        case .added: .added
        case .found: .found
        case .resolved: .resolved
        case .deleted: .deleted
        case .committed: .committed
        case .keyResult: .keyResult
        case .expired: .expired
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
        }
    }

    /// They are in the message that the reply is in.
    var items: [Item] {
        switch self {
        case .added(let item): [item]
        case .found(let items): items
        case .resolved(let resolution): resolution.matches.map(\.item)
        case .exported(let part): part.items
        default: []
        }
    }

    /// Writes all but the items.
    func write(to message: inout MessageWriter) {
        switch self {
        case .added, .found, .done: break
        case .resolved(let resolution): resolution.write(to: &message)
        case .deleted(let count): message.add(1, count: count)
        case .committed(let isCommitted): message.add(1, isCommitted)
        case .keyResult(let bytes): message.add(1, secret: bytes)
        case .expired(let sweep): sweep.write(to: &message)
        case .status(let status): status.write(to: &message)
        case .checked(let findings): for finding in findings { message.add(1, message: finding) }
        case .lockStatus(let status): status.write(to: &message)
        case .rekeyed(let progress): progress.write(to: &message)
        case .exported(let part): part.write(to: &message)
        case .imported(let outcomes): message.add(1, packed: outcomes)
        case .fileKey(let key): key.write(to: &message)
        case .fileKeyBackup(let file): message.add(1, file)
        case .authenticationStatus(let status): status.write(to: &message)
        case .authenticationNeeded(let challenge): challenge.write(to: &message)
        }
    }

    /// - Throws: `.parameter` for a message that is no answer, or a malformed one.
    init(
        _ kind: DaemonMessage.Kind, _ message: MessageReader, _ items: [Item], _ tail: inout WireTail
    ) throws(KeychainError) {
        guard items.isEmpty || [.added, .found, .resolved, .exported].contains(kind) else {
            throw KeychainError(.parameter, message: "items came with an answer that has none")
        }
        switch kind {
        case .added:
            guard items.count == 1 else {
                throw KeychainError(.parameter, message: "one item was added, and \(items.count) came back")
            }
            self = .added(items[0])
        case .found: self = .found(items)
        case .resolved: self = .resolved(try Resolution(message, items))
        case .exported:
            var part = try ExportedPart(message, &tail)
            part.items = items
            self = .exported(part)
        case .deleted: self = .deleted(try message.count(1))
        case .committed: self = .committed(try message.value(1) ?? false)
        case .keyResult: self = .keyResult(try tail.take("result of a key", message.value(1)))
        case .expired: self = .expired(try ExpirySweep(message, &tail))
        case .done: self = .done
        case .status: self = .status(try StoreStatus(message, &tail))
        case .checked: self = .checked(try message.list(1, &tail))
        case .lockStatus: self = .lockStatus(try LockStatus(message, &tail))
        case .rekeyed: self = .rekeyed(try RekeyProgress(message, &tail))
        case .imported: self = .imported(try message.packed(1, most: ImportRequest.mostItems, "outcomes"))
        case .fileKey: self = .fileKey(try FileKey(message, &tail))
        case .fileKeyBackup: self = .fileKeyBackup(try message.value(1) ?? Data())
        case .authenticationStatus: self = .authenticationStatus(try AuthenticationStatus(message, &tail))
        case .authenticationNeeded: self = .authenticationNeeded(try AuthenticationChallenge(message, &tail))
        case .welcome, .goodbye, .failure, .lockEvent, .itemEvent, .biometry, .biometryHint, .working:
            throw KeychainError(.parameter, message: "the message is no answer")
        }
    }
}
