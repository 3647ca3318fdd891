/// The purposes that certificates are judged for.
package enum TrustPolicy: Sendable, Hashable {
    /// The chain alone (RFC 5280).
    case basic
    /// A server of TLS, and its host if it matters.
    case server(host: String?)
    /// A client of TLS, and its host if it matters.
    case client(host: String?)
    case revocation(Revocation)

    /// Nothing is asked over the network, so that only a demand for a positive answer has an effect: it is never met.
    package struct Revocation: OptionSet, Sendable, Hashable {
        package let rawValue: UInt

        package init(rawValue: UInt) { self.rawValue = rawValue }

        package static let requirePositiveResponse = Revocation(rawValue: 8)
        /// The flags that Apple defines.
        package static let known = Revocation(rawValue: 31)
    }

    package var host: String? {
        switch self {
        case .server(let host), .client(let host): host
        case .basic, .revocation: nil
        }
    }

    package var isClient: Bool {
        if case .client = self { true } else { false }
    }

    /// Whether the policy is about the chain and not about its leaf.
    package var needsChain: Bool {
        switch self {
        case .basic, .revocation: true
        case .server, .client: false
        }
    }
}
