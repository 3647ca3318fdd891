package import FoundationEssentials
package import KeychainModel

/// A request, and the one kind of reply that answers it.
package struct Question<Answer: Sendable>: Sendable {
    let request: Request
    /// nil: the reply is to another question.
    let answer: @Sendable (Reply) -> Answer?

    init(_ request: Request, _ answer: @escaping @Sendable (Reply) -> Answer?) {
        (self.request, self.answer) = (request, answer)
    }
}

/// The way of asking for the proof that an item's access control wants.
package struct Asking: Sendable {
    /// The session that keeps the person's answers; nil: they are forgotten after the call.
    package var session: AuthenticationSession?
    /// Why this call asks; nil: as the session says.
    package var reason: String?
    /// Whether the person may be asked. Answers that the session has are used in any case.
    package var mayAsk: Bool
    /// Ends the questions of this call, and keeps the call from being begun.
    package var cancellation: Cancellation?
    /// Whether the closure that decides about the items asks through its argument
    /// (``Connection/deciding(about:prefix:_:)``).
    package var isOfClosure: Bool

    package init(
        in session: AuthenticationSession? = nil, reason: String? = nil, mayAsk: Bool = true,
        cancellation: Cancellation? = nil, isOfClosure: Bool = false
    ) {
        self.session = session
        self.reason = reason
        self.mayAsk = mayAsk
        self.cancellation = cancellation
        self.isOfClosure = isOfClosure
    }
}

extension Connection {
    /// Asks the keychain, and opens its reply.
    ///
    /// - Parameter asking: How the person is asked; nil: the call shows nothing, and an item that wants more is an error.
    /// - Throws: the errors of ``perform(_:)``, ``performAsking(_:_:)`` and ``requireUndecided(_:)``; `.internalFailure`
    ///   for a reply to another question.
    package func ask<Answer>(_ question: Question<Answer>, _ asking: Asking? = nil) throws(KeychainError) -> Answer {
        if asking?.isOfClosure != true { try requireUndecided(question.request.queries) }
        let reply = if let asking { try performAsking(question.request, asking) } else { try perform(question.request) }
        if case .authenticationNeeded = reply { throw .nobodyIsAsked }
        guard let answer = question.answer(reply) else { throw .unexpectedReply }
        return answer
    }
}

extension KeychainError {
    package static var unexpectedReply: KeychainError {
        KeychainError(.internalFailure, message: "the keychain answered something else than was asked")
    }

    fileprivate static var nobodyIsAsked: KeychainError {
        KeychainError(.interactionNotAllowed, message: "that wants the passcode, and the call asks nobody")
    }
}

// MARK: - Items

extension Question<Item> {
    /// Answered with the item as it is stored.
    package static func add(_ request: AddRequest) -> Self { added(.add(request)) }

    /// Answered with the item of the private half, without a secret.
    package static func makeKey(_ request: AddRequest) -> Self { added(.makeKey(request)) }

    private static func added(_ request: Request) -> Self {
        Self(request) { if case .added(let item) = $0 { item } else { nil } }
    }
}

extension Question<[Item]> {
    package static func find(_ query: ItemQuery, wantsSecrets: Bool) -> Self {
        found(.find(FindRequest(query, wantsSecrets: wantsSecrets)))
    }

    /// The items that have expired by the present clock.
    package static var expiredItems: Self { found(.expiredItems(deleting: [])) }

    private static func found(_ request: Request) -> Self {
        Self(request) { if case .found(let items) = $0 { items } else { nil } }
    }
}

extension Question<Resolution> {
    static func resolve(_ request: ResolveRequest) -> Self {
        Self(.resolve(request)) { if case .resolved(let resolution) = $0 { resolution } else { nil } }
    }
}

extension Question<Int> {
    /// Answered with the number of items that were deleted.
    package static func delete(_ query: ItemQuery) -> Self { deleted(.delete(query)) }

    package static func deleteExpired(_ items: [UUID]) -> Self { deleted(.expiredItems(deleting: items)) }

    private static func deleted(_ request: Request) -> Self {
        Self(request) { if case .deleted(let count) = $0 { count } else { nil } }
    }
}

extension Question<Bool> {
    /// Answered with false if something was not as it was seen, and nothing was changed.
    package static func commit(_ request: TransactionRequest) -> Self { committed(.transaction(request)) }

    /// Answered with false if one of the items is another by now, and nothing was deleted.
    package static func removeMoved(_ items: [ItemVersion]) -> Self { committed(.removeMoved(items)) }

    private static func committed(_ request: Request) -> Self {
        Self(request) { if case .committed(let isDone) = $0 { isDone } else { nil } }
    }
}

extension Question<SecretBytes> {
    package static func use(_ use: KeyUse) -> Self {
        Self(.useKey(use)) { if case .keyResult(let bytes) = $0 { bytes } else { nil } }
    }
}

// MARK: - Everything else

extension Question<Void> {
    package static func update(_ request: UpdateRequest) -> Self { done(.update(request)) }

    /// A request whose only answer is that it is done.
    package static func done(_ request: Request) -> Self {
        Self(request) { if case .done = $0 { () } else { nil } }
    }
}

extension Question<StoreStatus> {
    package static var status: Self { Self(.status) { if case .status(let status) = $0 { status } else { nil } } }
}

extension Question<[StoreFinding]> {
    package static var check: Self { Self(.check) { if case .checked(let findings) = $0 { findings } else { nil } } }
}

extension Question<LockStatus> {
    package static var lockStatus: Self { status(.lockStatus) }
    package static func unlock(_ passcode: SecretBytes) -> Self { status(.unlock(passcode)) }

    private static func status(_ request: Request) -> Self {
        Self(request) { if case .lockStatus(let status) = $0 { status } else { nil } }
    }
}

extension Question<RekeyProgress?> {
    package static var rekeyStep: Self { Self(.rekeyStep, progress) }
    /// Answered with nil if no renewal of all keys belongs to it.
    package static func passcode(_ request: PasscodeRequest) -> Self { Self(.passcode(request), progress) }

    private static let progress: @Sendable (Reply) -> RekeyProgress?? = {
        switch $0 {
        case .rekeyed(let progress): .some(progress)
        case .done: .some(nil)
        default: nil
        }
    }
}

extension Question<AuthenticationStatus> {
    /// Asks whether a proof is right.
    package static func verify(_ proof: AuthenticationProof) -> Self {
        status(.authenticated(proof, .authenticationStatus))
    }

    package static var authenticationStatus: Self { status(.authenticationStatus) }

    private static func status(_ request: Request) -> Self {
        Self(request) { if case .authenticationStatus(let status) = $0 { status } else { nil } }
    }
}

extension Question<ExpirySweep> {
    package static var removeExpired: Self {
        Self(.removeExpired) { if case .expired(let sweep) = $0 { sweep } else { nil } }
    }
}

extension Question<ExportedPart> {
    package static func export(_ request: ExportRequest) -> Self {
        Self(.exportItems(request)) { if case .exported(let part) = $0 { part } else { nil } }
    }
}

extension Question<[ImportOutcome]> {
    package static func importItems(_ request: ImportRequest) -> Self {
        Self(.importItems(request)) { if case .imported(let outcomes) = $0 { outcomes } else { nil } }
    }
}

extension Question<FileKey> {
    package static func fileKey(_ request: FileKeyRequest) -> Self {
        Self(.fileKey(request)) { if case .fileKey(let key) = $0 { key } else { nil } }
    }
}

extension Question<Data> {
    /// Answered with a whole backup key file.
    package static func backUpFileKeys(_ request: FileKeyBackupRequest) -> Self {
        Self(.backUpFileKeys(request)) { if case .fileKeyBackup(let file) = $0 { file } else { nil } }
    }
}
