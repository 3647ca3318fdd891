internal import KeychainModel

/// A term of the model that is a number in messages.
protocol WireTerm: FieldValue, PackedValue, Equatable {
    /// The name in messages of errors.
    static var termName: String { get }
    /// All there are, in the order of their numbers.
    static var terms: [Self] { get }
    /// The number of the first term. If it is 1, the number 0 stands for no term.
    static var firstNumber: UInt64 { get }
}

extension WireTerm {
    static var firstNumber: UInt64 { 1 }

    var wireNumber: UInt64 { Self.firstNumber + UInt64(Self.terms.firstIndex(of: self)!) }

    var isAbsentByDefault: Bool { wireNumber == 0 }

    func write(as number: Int, to message: inout MessageWriter) { message.add(number, ifAny: wireNumber) }

    init?(_ field: MessageField) throws(KeychainError) {
        guard field.type == .variable else { return nil }
        try self.init(encoded: field.value)
    }

    static var type: WireType { .variable }

    var encoded: UInt64 { wireNumber }

    /// - Throws: `.parameter` for a number that stands for nothing here.
    init(encoded number: UInt64) throws(KeychainError) {
        let (index, isTooLow) = number.subtractingReportingOverflow(Self.firstNumber)
        guard !isTooLow, index < Self.terms.count else {
            throw KeychainError(
                .parameter, message: "there is no \(Self.termName) of number \(Int32(truncatingIfNeeded: number))")
        }
        self = Self.terms[Int(index)]
    }
}

/// Returns a term that must be there.
///
/// - Throws: `.parameter` if it is not.
func required<Term: WireTerm>(_ term: Term?) throws(KeychainError) -> Term { try required(Term.termName, term) }

extension ItemClass: WireTerm {
    static let termName = "item class"
    static let terms: [Self] = [.genericPassword, .internetPassword, .certificate, .key, .identity]
}

extension Protection: WireTerm {
    static let termName = "protection"
    static let terms: [Self] = [
        .whenUnlocked, .afterFirstUnlock, .always, .whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly,
        .alwaysThisDeviceOnly, .whenPasscodeSetThisDeviceOnly,
    ]
    static let firstNumber: UInt64 = 6
}

extension FileClass: WireTerm {
    static let termName = "file class"
    static let terms: [Self] = [
        .complete, .completeUnlessOpen, .completeUntilFirstUserAuthentication, .always, .completeWhenUserInactive,
    ]
}

extension ItemQuery.Synchronizable: WireTerm {
    static let termName = "synchronizability"
    static let terms: [Self] = [.no, .yes, .any]
    static let firstNumber: UInt64 = 0
}

extension ItemQuery.AuthenticationUI: WireTerm {
    static let termName = "way to ask a person"
    static let terms: [Self] = [.allow, .fail, .skip]
    static let firstNumber: UInt64 = 0
}

extension Caller.Authority: WireTerm {
    static let termName = "authority"
    static let terms: [Self] = [.groups, .owner]
    static let firstNumber: UInt64 = 0
}

extension DaemonGoodbye.Reason: WireTerm {
    static let termName = "reason to end a connection"
    static let terms: [Self] = [
        .shuttingDown, .malformed, .unsupportedVersion, .tooSlow, .tooManyConnections, .refused, .storeGivenUp,
        .noStore,
    ]
}

extension CallerDescription.Kind: WireTerm {
    static let termName = "kind of evidence"
    static let terms: [Self] = [.declared, .unit, .setgid, .user, .unconfined]
}

extension LockState: WireTerm {
    static let termName = "state of a lock"
    static let terms: [Self] = [.neverUnlocked, .unlocked, .locked]
}

extension LockStatus.KeyPlace: WireTerm {
    static let termName = "place of keys"
    static let terms: [Self] = [.keyring, .process, .daemon]
}

extension KeyMemoryKind: WireTerm {
    static let termName = "kind of memory"
    static let terms: [Self] = [.secret, .locked, .ordinary]
}

extension StoreFinding.Severity: WireTerm {
    static let termName = "severity"
    static let terms: [Self] = [.note, .warning, .damage]
}

extension ImportOutcome: WireTerm {
    static let termName = "outcome of an import"
    static let terms: [Self] = [.added, .replaced, .kept, .unchanged, .refused, .expired]
}

extension AuthenticationFactor: WireTerm {
    static let termName = "factor"
    static let terms: [Self] = [.passcode, .biometry, .applicationPassword]
}

extension BiometryKind: WireTerm {
    static let termName = "kind of a reader"
    static let terms: [Self] = [.fingerprint, .face]
}
