package import FoundationEssentials
package import KeychainModel

/// An application password as a key of this device and store.
package struct ApplicationPasswordKey: Sendable {
    package let key: KeyMaterial
    /// A mark like ``PasscodeKey/fingerprint``.
    package let fingerprint: Data
    /// log2 of scrypt's N.
    package let cost: UInt8
    private let password: SecretBytes
    private let storeID: UUID
    private let deviceKey: KeyMaterial

    /// It costs as much as a passcode (``PasscodeKey``).
    ///
    /// - Throws: `.allocation` if there is no memory for it.
    package init(
        _ password: SecretBytes, cost: UInt8, storeID: UUID, deviceKey: KeyMaterial
    ) throws(KeychainError) {
        var salt = Data(count: SHA256State.byteCount)
        KeyContext(storeID).withInfo("application password 1") { info in
            salt.withUnsafeMutableBytes { SHA256State.hash(info, into: $0) }
        }
        let parameters = PasscodeParameters(cost: cost, blockSize: 8, parallelism: 1, salt: salt)
        let derived = try PasscodeKey(password, parameters, storeID: storeID, deviceKey: deviceKey)
        key = derived.key
        fingerprint = derived.fingerprint
        self.cost = cost
        self.password = password
        self.storeID = storeID
        self.deviceKey = deviceKey
    }

    /// The key of the same password at another cost, for secrets that a version with another usual cost wrote.
    func withCost(_ cost: UInt8) throws(KeychainError) -> ApplicationPasswordKey {
        if cost == self.cost { return self }
        return try ApplicationPasswordKey(password, cost: cost, storeID: storeID, deviceKey: deviceKey)
    }
}
