internal import KeychainModel
internal import KeychainWire

/// The parts of an answer as they come, with a check that they fit the request.
struct PartedReply {
    /// The limit is more memory than any daemon's answer takes.
    private static let mostBytes = 256 << 20

    private let request: Request
    private var whole: Reply?
    private var byteCount = 0

    init(to request: Request) { self.request = request }

    /// - Returns: the whole answer; nil: there is more to come.
    /// - Throws: `.notAvailable` for a part of another answer, or of one that is larger than a daemon's.
    mutating func adding(_ part: Reply, isLast: Bool, _ address: DaemonAddress) throws(KeychainError) -> Reply? {
        guard request.isAnswered(by: part) else { throw .strangeAnswer(of: address) }
        byteCount += part.byteCount
        guard byteCount <= Self.mostBytes, isLast || part.byteCount > 0 else {
            throw KeychainError(.notAvailable, message: "the answer of what listens at \(address.path) does not end")
        }
        if whole == nil { whole = part } else { try whole!.append(part) }  // it was looked at
        return isLast ? whole : nil
    }
}

extension Request {
    /// Whether an engine answers this with a reply of that kind.
    func isAnswered(by reply: Reply) -> Bool {
        switch self {
        case .authenticated(_, let request): return request.isAnswered(by: reply)
        case .add, .find, .update, .delete, .transaction, .makeKey, .useKey, .authenticationStatus, .check, .compact,
            .removeExpired, .expiredItems, .passcode, .exportItems, .importItems, .removeMoved, .giveUpStore,
            .backUpFileKeys:
            if case .authenticationNeeded = reply { return true }
        case .resolve, .status, .lockStatus, .unlock, .lock, .rekeyStep, .renewLease, .fileKey, .endTicket: break
        }
        return switch (self, reply) {
        case (.add, .added), (.makeKey, .added), (.find, .found), (.resolve, .resolved), (.update, .done),
            (.delete, .deleted),
            (.transaction, .committed), (.removeMoved, .committed), (.useKey, .keyResult), (.status, .status),
            (.check, .checked),
            (.compact, .done), (.removeExpired, .expired), (.expiredItems, .found), (.expiredItems, .deleted),
            (.lockStatus, .lockStatus), (.unlock, .lockStatus),
            (.lock, .done),
            (.passcode, .done), (.passcode, .rekeyed), (.rekeyStep, .rekeyed), (.renewLease, .done),
            (.exportItems, .exported), (.importItems, .imported), (.giveUpStore, .done), (.fileKey, .fileKey),
            (.backUpFileKeys, .fileKeyBackup), (.authenticationStatus, .authenticationStatus), (.endTicket, .done):
            true
        default: false
        }
    }
}
