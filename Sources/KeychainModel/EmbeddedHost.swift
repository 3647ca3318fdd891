/// The engine of an embedded keychain, in the program's own process, and the prompter that asks its user.
///
/// `KeychainEmbedded` is the only one. It is reached by the name of a C function and not by an import, since an import would
/// make every compiler that finds our modules load those of SQLite and of C
/// (docs/decisions/026-c-by-declared-symbols.md).
package protocol EmbeddedHost: AnyObject, Sendable {
    /// For the whole process, so that two questions are asked one after the other.
    var prompter: any Prompter { get }

    /// - Parameters:
    ///   - host: The present word of the store's mark. Unless it is ``StoreHost/embedded``, every other process is kept out.
    ///   - biometry: The reader of fingers or faces; nil: fprintd's.
    func open(
        _ location: StoreLocation, as host: StoreHost, biometry: (any BiometryReader)?
    ) throws(KeychainError) -> any RequestHandler

    /// Gives a store to another host, as `StoreHandover` does.
    func handOver(_ location: StoreLocation, from former: StoreHost?, to host: StoreHost) throws(KeychainError)

    /// Opens a store for a test: nothing is forced to the disk, passcodes take no time, and the keys stay in this process.
    func openForTest(
        _ location: StoreLocation, clock: any Clock, biometry: any BiometryReader
    ) throws(KeychainError) -> any RequestHandler

    /// Drops the keys of such a store, as a restart of the system does.
    func forgetKeys(of engine: any RequestHandler)

    /// Locks a store that may not open.
    func lockUnopened(_ location: StoreLocation, _ request: LockRequest) throws(KeychainError)
}

/// The box that `keychain_embedded_open` fills.
package final class EmbeddedHostBox {
    package var host: (any EmbeddedHost)?

    package init() {}
}
