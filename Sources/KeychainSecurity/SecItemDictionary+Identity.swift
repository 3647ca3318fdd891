internal import Foundation
internal import KeychainModel
internal import SwiftKeychain

extension SecItemDictionary {
    /// Adds the certificate and the key of an identity. One of the two may be there already.
    ///
    /// - Returns: the identity's persistent reference, if it is asked for. Nothing else is returned.
    /// - Throws: `.duplicateItem` if both halves are there.
    func add(_ identity: SecIdentity) throws(KeychainError) -> NSData? {
        try requireNoMatch()
        let halves = try halves(of: identity).map { half throws(KeychainError) in
            let known = AttributeTable.table(for: half.itemClass)
            var own = AttributeSet()
            for (attribute, value) in attributes.entries where known[attribute] != nil { own.append(attribute, value) }
            return try addRequest(half.itemClass, own, half)
        }
        do throws(KeychainError) {
            _ = try perform(.transaction(TransactionRequest(steps: halves.map { .add($0) })))
        } catch  where error.code == .duplicateItem {
            try addMissing(halves, error)
        }
        return returns.contains(.persistentReference) ? try persistentReference(of: identity) : nil
    }

    /// A key in the engine has its item.
    private func halves(of identity: SecIdentity) -> [ItemReference] {
        if case .engine = identity.key.half { return [.certificate(identity.certificate)] }
        return [.certificate(identity.certificate), .key(identity.key)]
    }

    /// - Parameter failure: Thrown if none is missing.
    private func addMissing(_ halves: [AddRequest], _ failure: KeychainError) throws(KeychainError) {
        var isAdded = false
        for half in halves {
            do throws(KeychainError) {
                _ = try perform(.add(half))
                isAdded = true
            } catch  where error.code == .duplicateItem {
                continue
            }
        }
        if !isAdded { throw failure }
    }

    private func persistentReference(of identity: SecIdentity) throws(KeychainError) -> NSData? {
        var query = ItemQuery(.identity)
        query.attributes = ItemReference.identity(identity).identifying
        query.synchronizable = .any
        guard case .found(let items) = try perform(.find(FindRequest(query, wantsSecrets: false))) else { return nil }
        return items.first.map { $0.persistentReference.data as NSData }
    }
}
