internal import Foundation
internal import KeychainClient
internal import KeychainCrypto
internal import KeychainModel

/// The private half of a pair that is kept in the engine, and asked to be used there.
struct EngineKey: CurvePrivateKey {
    let curve = Curve.p256
    let point: Data
    /// The application label of its item.
    let label: AttributeValue?
    let reference: PersistentReference
    /// The keychain that it was found in.
    private let connection: Connection
    /// How a person is asked, as the dictionary said that the key was made or found with.
    private let session: AuthenticationSession?
    private let prompt: String?
    private let authenticationUI: ItemQuery.AuthenticationUI

    /// - Returns: nil for an item that is no key in the engine.
    init?(_ item: Item, _ dictionary: SecItemDictionary) {
        guard item.isKeptInEngine, case .data(let point)? = item.attributes[.tokenObjectID],
            (try? ECKey(.p256, point: point)) != nil
        else { return nil }
        self.point = point
        label = item.attributes[.applicationLabel]
        reference = item.persistentReference
        connection = .current
        session = dictionary.context?.session
        prompt = dictionary.prompt
        // A search can leave out what asks a person. The use of a key that was found cannot.
        authenticationUI = dictionary.authenticationUI == .skip ? .fail : dictionary.authenticationUI
    }

    func signature(ofDigest digest: Data) throws(KeychainError) -> Data { try use(.sign(digest: digest)) }

    func sharedSecret(with peer: ECKey) throws(KeychainError) -> Data { try use(.agree(point: peer.point)) }

    private func use(_ operation: KeyUse.Operation) throws(KeychainError) -> Data {
        let reply = try connection.performAsking(
            .useKey(KeyUse(reference, operation, authenticationUI: authenticationUI)), in: session, reason: prompt,
            mayAsk: mayAsk)
        guard case .keyResult(let bytes) = reply else {
            throw KeychainError(.internalFailure, message: "the keychain answered another question than was asked")
        }
        return bytes.copyData()
    }

    private var mayAsk: Bool { authenticationUI == .allow && session?.forbidsInteraction != true }

    func failure(_ error: KeychainError) -> KeyFailure {
        let isLocked =
            error.code == .interactionNotAllowed && (try? connection.lockStatus().state) != .unlocked
        let isInvalidated = session?.isInvalidated == true
        return KeyFailure(error, mayAsk: mayAsk, isLocked: isLocked, isInvalidated: isInvalidated)
    }
}
