package import FoundationEssentials

/// The use of a private key that never leaves the engine (``Item/isKeptInEngine``).
package struct KeyUse: Sendable {
    /// The operations that need the private number. All else is done with the result by the client.
    package enum Operation: Sendable, Hashable {
        /// ECDSA of a digest.
        case sign(digest: Data)
        /// ECDH with a public key: 04 ‖ X ‖ Y.
        case agree(point: Data)
    }

    package var key: PersistentReference
    package var operation: Operation
    package var authenticationUI: ItemQuery.AuthenticationUI

    package init(
        _ key: PersistentReference, _ operation: Operation, authenticationUI: ItemQuery.AuthenticationUI = .allow
    ) {
        (self.key, self.operation, self.authenticationUI) = (key, operation, authenticationUI)
    }

    /// The limit is more than any digest or point has.
    package static let mostBytes = 1024
}

extension Item {
    /// The name of the engine as a token (`kSecAttrTokenIDSecureEnclave`).
    package static let engineToken = "com.apple.setoken"

    /// Whether it is a key that was made in the engine, is used there, and never leaves it: no request returns its secret.
    package var isKeptInEngine: Bool {
        itemClass == .key && attributes.nameEngineToken && attributes[.tokenObjectID] != nil
    }
}

extension AttributeSet {
    /// Whether they say of a key that the engine keeps it.
    package var nameEngineToken: Bool { self[.tokenID]?.matches(.text(Item.engineToken)) ?? false }
}
