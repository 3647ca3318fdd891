/// What answers requests, wherever it runs. The engine is one; nothing above it sees more of it.
package protocol RequestHandler: AnyObject, Sendable {
    /// - Throws: a `KeychainError` with the status that Apple's keychain gives in the same case. After any
    ///   error the store is as it was before the call.
    func handle(_ request: Request, from caller: Caller) throws(KeychainError) -> Reply

    /// The process is about to end in the ordinary way.
    func prepareForExit()
}
