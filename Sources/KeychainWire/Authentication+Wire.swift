internal import FoundationEssentials
internal import KeychainModel

// Proofs that come with requests, challenges that answer them, and readers of fingers and faces.

extension AuthenticationProof: WireMessage {
    func write(to message: inout MessageWriter) {
        message.add(1, secret: passcode)
        message.add(2, secret: applicationPassword)
        message.add(3, ifAny: ticket?.identifier)
    }

    init(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError) {
        let ticket: UUID? = try message.value(3)
        self.init(
            passcode: try tail.take(ifAny: message.value(1)),
            applicationPassword: try tail.take(ifAny: message.value(2)), ticket: ticket.map { BiometryTicket($0) })
        if isEmpty { throw KeychainError(.parameter, message: "a proof shows nothing") }
    }
}

extension BiometryTicket: WireMessage {
    func write(to message: inout MessageWriter) { message.add(1, identifier) }

    init(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError) {
        self.init(try required("ticket", message.value(1)))
    }
}

// MARK: - Challenges

extension AuthenticationChallenge: WireMessage {
    private struct Alternative: WireMessage {
        let factors: Set<AuthenticationFactor>

        init(_ factors: Set<AuthenticationFactor>) { self.factors = factors }

        func write(to message: inout MessageWriter) {
            message.add(1, packed: factors.sorted { $0.wireNumber < $1.wireNumber })
        }

        init(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError) {
            factors = Set(try message.packed(1, most: 16, "factors") as [AuthenticationFactor])
            if factors.isEmpty { throw KeychainError(.parameter, message: "a challenge asks for nothing") }
        }
    }

    func write(to message: inout MessageWriter) {
        for factors in alternatives { message.add(1, message: Alternative(factors)) }
    }

    init(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError) {
        let alternatives: [Alternative] = try message.list(1, &tail)
        if alternatives.isEmpty { throw KeychainError(.parameter, message: "a challenge that nothing satisfies") }
        self.init(alternatives.map(\.factors))
    }
}

// MARK: - Readers of fingers and faces

extension AuthenticationStatus: WireMessage {
    /// The state of a reader, without what goes with it.
    private enum BiometryState: WireTerm {
        case ready, notEnrolled, lockedOut, notAvailable

        static let termName = "state of a reader"
        static let terms: [Self] = [.ready, .notEnrolled, .lockedOut, .notAvailable]
    }

    func write(to message: inout MessageWriter) {
        message.add(1, hasPasscode)
        switch biometry {
        case .ready(let enrolled):
            message.add(2, BiometryState.ready)
            message.add(3, enrolled.kind)
            message.add(4, Data(enrolled.digest))
        case .notEnrolled(let kind, let text):
            message.add(2, BiometryState.notEnrolled)
            message.add(3, kind)
            message.add(5, text)
        case .lockedOut(let kind):
            message.add(2, BiometryState.lockedOut)
            message.add(3, kind)
        case .notAvailable(let text):
            message.add(2, BiometryState.notAvailable)
            message.add(5, text)
        }
    }

    init(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError) {
        let text: String = try message.value(5) ?? ""
        let biometry: Biometry
        switch try required(message.value(2)) as BiometryState {
        case .ready:
            let digest: Data = try message.value(4) ?? Data()
            guard digest.count == BiometryEnrolment.digestByteCount else {
                throw KeychainError(.parameter, message: "what is enrolled has \(digest.count) bytes")
            }
            biometry = .ready(BiometryEnrolment(kind: try required(message.value(3)), digest: Array(digest)))
        case .notEnrolled: biometry = .notEnrolled(try required(message.value(3)), text)
        case .lockedOut: biometry = .lockedOut(try required(message.value(3)))
        case .notAvailable: biometry = .notAvailable(text)
        }
        self.init(hasPasscode: try message.value(1) ?? false, biometry: biometry)
    }
}

extension BiometryFailure {
    /// The reason, without the text that goes with it.
    fileprivate enum Kind: WireTerm {
        case notAvailable, notEnrolled, busy, noMatch, lockedOut, cancelled, timedOut, brokeOff

        static let termName = "failure of a reader"
        static let terms: [Self] = [
            .notAvailable, .notEnrolled, .busy, .noMatch, .lockedOut, .cancelled, .timedOut, .brokeOff,
        ]
    }

    fileprivate var parts: (kind: Kind, text: String) {
        switch self {
        case .notAvailable(let text): (.notAvailable, text)
        case .notEnrolled(let text): (.notEnrolled, text)
        case .busy(let text): (.busy, text)
        case .noMatch: (.noMatch, "")
        case .lockedOut: (.lockedOut, "")
        case .cancelled: (.cancelled, "")
        case .timedOut: (.timedOut, "")
        case .failed(let text): (.brokeOff, text)
        }
    }

    fileprivate init(_ kind: Kind, _ text: String) {
        self =
            switch kind {
            case .notAvailable: .notAvailable(text)
            case .notEnrolled: .notEnrolled(text)
            case .busy: .busy(text)
            case .noMatch: .noMatch
            case .lockedOut: .lockedOut
            case .cancelled: .cancelled
            case .timedOut: .timedOut
            case .brokeOff: .failed(text)
            }
    }
}

extension Result<BiometryTicket, BiometryFailure>: WireMessage {
    func write(to message: inout MessageWriter) {
        switch self {
        case .success(let ticket): message.add(1, ticket.identifier)
        case .failure(let failure):
            let (kind, text) = failure.parts
            message.add(2, kind)
            message.add(3, text)
        }
    }

    init(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError) {
        if let ticket: UUID = try message.value(1) {
            self = .success(BiometryTicket(ticket))
        } else {
            self = .failure(BiometryFailure(try required(message.value(2)), try message.shownText(3)))
        }
    }
}

extension BiometryHint: WireMessage {
    func write(to message: inout MessageWriter) { message.add(1, text) }

    init(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError) {
        self.init(try message.shownText(1))
    }
}
