package import KeychainModel
internal import Logging

/// Everything behind a request: policy, keys and the store, with one way in.
///
/// The engine never waits for a person and knows nothing of who carries the request. It may be called
/// from any number of threads at once, and any number of processes may have an engine on the same store.
package final class Engine: RequestHandler {
    let store: ItemStore
    let keys: KeyStore
    let configuration: EngineConfiguration
    let logger = Logger(label: "keychain.engine")

    /// Opens the store, making it if there is none.
    ///
    /// - Throws: `.notAvailable` if there is something in its place that cannot be opened: a store of a newer
    ///   version, no database, no permission, a missing or foreign key. What is there is left untouched.
    package init(_ configuration: EngineConfiguration) throws(KeychainError) {
        ForkedChild.watch()
        let opened = try StoreOpener(configuration).open()
        self.configuration = configuration
        self.store = opened.store
        self.keys = opened.keys
    }

    /// Does what a request asks on behalf of a caller.
    ///
    /// - Throws: a `KeychainError` with the status that Apple's keychain gives in the same case. After any
    ///   error the store is as it was before the call.
    package func handle(_ request: Request, from caller: Caller) throws(KeychainError) -> Reply {
        // A forked child has neither the keys, which the kernel wipes, nor a database connection it may use.
        guard !ForkedChild.isThis else {
            throw KeychainError(
                .notAvailable, message: "a forked process cannot use the keychain that its parent opened")
        }
        do {
            switch request {
            case .add(let request): return .added(try add(request, from: caller))
            case .find(let request): return .found(try find(request, from: caller))
            case .update(let request): try update(request, from: caller)
            case .delete(let query): try delete(query, from: caller)
            case .status: return .status(try status())
            case .check: return .checked(try check())
            }
            return .done
        } catch {
            throw KeychainError(engineFailure: error)
        }
    }

    /// Moves what this process has written out of the log, so that replaced and deleted ciphertext leaves it. If
    /// another process is in the midst of reading, that is left to the next one that writes.
    package func prepareForExit() {
        // A forked child inherits the handlers of exit, and must not touch its parent's connection.
        if ForkedChild.isThis { return }
        do {
            try store.emptyLog()
        } catch {
            logger.debug("the log was not emptied", metadata: ["reason": "\(KeychainError(engineFailure: error).code)"])
        }
    }
}
