internal import Foundation
internal import KeychainClient
internal import KeychainCrypto
internal import KeychainKeys
internal import KeychainModel

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
        if returns.contains(.persistentReference) { return try addReturningReference(halves) }
        do throws(KeychainError) {
            _ = try ask(.commit(TransactionRequest(steps: halves.map { .add($0) })))
        } catch  where error.code == .duplicateItem {
            try addMissing(halves, error)
        }
        return nil
    }

    /// One after the other, since the reference has the certificate's identifier, which an add returns.
    private func addReturningReference(_ halves: [AddRequest]) throws(KeychainError) -> NSData {
        var added: UUID?
        var failure: KeychainError?
        do throws(KeychainError) {
            added = try ask(.add(halves[0])).identifier
        } catch  where error.code == .duplicateItem {
            failure = error
        }
        do throws(KeychainError) {
            for half in halves.dropFirst() {
                _ = try ask(.add(half))
                failure = nil
            }
        } catch {
            guard error.code == .duplicateItem else {
                // The failure of the add is the one to tell, also if the certificate cannot be taken back.
                if let added {
                    let certificate = PersistentReference(itemClass: .certificate, identifier: added)
                    _ = try? ask(.delete(ItemQuery(exactly: certificate)))
                }
                throw error
            }
        }
        if let failure { throw failure }
        let identifier: UUID
        if let added { identifier = added } else { identifier = try certificate(halves[0]) }
        return PersistentReference(itemClass: .identity, identifier: identifier).data as NSData
    }

    /// The certificate that was there already.
    private func certificate(_ request: AddRequest) throws(KeychainError) -> UUID {
        var query = ItemQuery(.certificate)
        query.attributes = request.attributes
        query.attributes[.label] = nil
        query.accessGroup = request.accessGroup
        query.synchronizable = request.synchronizable ? .yes : .no
        guard let item = try Connection.current.items(query, wantsSecrets: false, asking).first else { throw .gone }
        return item.identifier
    }

    /// A key in the engine has its item.
    private func halves(of identity: SecIdentity) -> [ItemReference] {
        if case .engine(_) = identity.key.half { return [.certificate(identity.certificate)] }
        return [.certificate(identity.certificate), .key(identity.key)]
    }

    /// - Parameter failure: Thrown if none is missing.
    private func addMissing(_ halves: [AddRequest], _ failure: KeychainError) throws(KeychainError) {
        var isAdded = false
        for half in halves {
            do throws(KeychainError) {
                _ = try ask(.add(half))
                isAdded = true
            } catch  where error.code == .duplicateItem {
                continue
            }
        }
        if !isAdded { throw failure }
    }
}
