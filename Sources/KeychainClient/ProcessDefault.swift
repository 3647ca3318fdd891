internal import Synchronization

/// The configuration of the process, with the connection that follows from it.
private final class ProcessDefault: Sendable {
    static let shared = ProcessDefault()

    private let state = Mutex((configuration: KeychainConfiguration(), connection: Connection?.none))

    var configuration: KeychainConfiguration {
        get { state.withLock { $0.configuration } }
        set { state.withLock { $0 = (newValue, nil) } }
    }

    var connection: Connection {
        state.withLock { state in
            if let connection = state.connection { return connection }
            let connection = Connection(state.configuration)
            state.connection = connection
            return connection
        }
    }
}

extension Connection {
    /// The connection that the façades use.
    package static var current: Connection { override ?? ProcessDefault.shared.connection }
}

extension KeychainConfiguration {
    /// The configuration of every keychain call of this process that names no other one.
    ///
    /// A change takes effect with the next call, and calls in progress end on the store that they began on. A program
    /// sets it first thing in `main`, so that all its calls use one keychain. Any thread may read and set it.
    public static var processDefault: KeychainConfiguration {
        get { ProcessDefault.shared.configuration }
        set { ProcessDefault.shared.configuration = newValue }
    }
}
