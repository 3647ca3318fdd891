internal import Foundation

// What a daemon says beside its replies.

extension WireWelcome {
    init(_ welcome: DaemonWelcome) {
        self.init()
        version = welcome.version
        instance = welcome.instance.wireBytes
        processID = welcome.processID
        release = welcome.release
    }
}

extension DaemonWelcome {
    init(_ wire: WireWelcome) throws(KeychainError) {
        self.init(
            version: wire.version, instance: try UUID(wireBytes: wire.instance), processID: wire.processID,
            release: wire.release)
    }
}

extension WireFailure {
    /// Neither the cause nor the place in the source goes to another process.
    init(_ error: KeychainError) {
        self.init()
        status = error.code.status
        message = error.message
        tellsOfDamage = error.tellsOfDamage
    }
}

extension KeychainError {
    init(_ wire: WireFailure) throws(KeychainError) {
        // To callers a status of 0 is a success.
        guard wire.status != 0 else { throw KeychainError(.parameter, message: "a failure has no status") }
        self.init(Code(status: wire.status), message: wire.message)
        tellsOfDamage = wire.tellsOfDamage
    }
}

extension WireItemEvent {
    init(_ itemClass: ItemClass, accessGroup: String) {
        self.init()
        self.itemClass = WireItemClass(itemClass)
        self.accessGroup = accessGroup
    }
}

extension WireGoodbye {
    init(_ goodbye: DaemonGoodbye) {
        self.init()
        reason = Reason(goodbye.reason)
        message = goodbye.message
        lastRequest = goodbye.lastRequest
    }
}

extension DaemonGoodbye {
    init(_ wire: WireGoodbye) throws(KeychainError) {
        self.init(try Reason(wire.reason), wire.message, lastRequest: wire.lastRequest)
    }
}

extension WireGoodbye.Reason {
    fileprivate init(_ reason: DaemonGoodbye.Reason) {
        self =
            switch reason {
            case .shuttingDown: .shuttingDown
            case .malformed: .malformed
            case .unsupportedVersion: .unsupportedVersion
            case .tooSlow: .tooSlow
            case .tooManyConnections: .tooManyConnections
            case .refused: .refused
            case .storeGivenUp: .storeGivenUp
            case .noStore: .noStore
            }
    }
}

extension DaemonGoodbye.Reason {
    fileprivate init(_ wire: WireGoodbye.Reason) throws(KeychainError) {
        switch wire {
        case .shuttingDown: self = .shuttingDown
        case .malformed: self = .malformed
        case .unsupportedVersion: self = .unsupportedVersion
        case .tooSlow: self = .tooSlow
        case .tooManyConnections: self = .tooManyConnections
        case .refused: self = .refused
        case .storeGivenUp: self = .storeGivenUp
        case .noStore: self = .noStore
        case .unspecified, .UNRECOGNIZED: throw .unknown("reason to end a connection", wire.rawValue)
        }
    }
}
