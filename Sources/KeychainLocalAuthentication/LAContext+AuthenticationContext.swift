internal import KeychainClient

extension LAContext: AuthenticationContext {
    /// An invalidated context can ask nothing any more.
    package var forbidsInteraction: Bool { interactionNotAllowed || isInvalidated }
}
