package import FoundationEssentials
package import KeychainCrypto
package import KeychainModel

/// The private half of a pair that is kept in the engine, and asked to be used there.
package struct EngineKey: CurvePrivateKey {
    package let curve = Curve.p256
    package let point: Data
    /// The application label of its item.
    package let label: AttributeValue?
    package let reference: PersistentReference
    /// The keychain that it was found in.
    private let connection: Connection
    private let asking: Asking
    private let authenticationUI: ItemQuery.AuthenticationUI

    /// - Returns: nil for an item that is no key in the engine.
    package init?(
        _ item: Item, in connection: Connection, _ asking: Asking, authenticationUI: ItemQuery.AuthenticationUI = .allow
    ) {
        guard item.isKeptInEngine, case .data(let point)? = item.attributes[.tokenObjectID],
            (try? ECKey(.p256, point: point)) != nil
        else { return nil }
        self.point = point
        label = item.attributes[.applicationLabel]
        reference = item.persistentReference
        self.connection = connection
        self.asking = asking
        // A search can leave out what asks a person. The use of a key that was found cannot.
        self.authenticationUI = authenticationUI == .skip ? .fail : authenticationUI
    }

    package func signature(ofDigest digest: Data) throws(KeychainError) -> Data { try use(.sign(digest: digest)) }

    package func sharedSecret(with peer: ECKey) throws(KeychainError) -> Data { try use(.agree(point: peer.point)) }

    private func use(_ operation: KeyUse.Operation) throws(KeychainError) -> Data {
        var asking = asking
        asking.mayAsk = mayAsk
        do throws(KeychainError) {
            return try connection.ask(.use(KeyUse(reference, operation, authenticationUI: authenticationUI)), asking)
                .copyData()
        } catch {
            var error = error
            if error.code == .decode { error.signal = .worthlessKey }
            throw error
        }
    }

    /// Whether the person may be asked at the moment.
    package var mayAsk: Bool {
        asking.mayAsk && authenticationUI == .allow && asking.session?.forbidsInteraction != true
    }

    package var isInvalidated: Bool { asking.session?.isInvalidated == true }

    package var isLocked: Bool { (try? connection.lockStatus().state) != .unlocked }
}
