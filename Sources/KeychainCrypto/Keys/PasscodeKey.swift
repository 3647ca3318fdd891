package import FoundationEssentials
package import KeychainModel

/// How a passcode is turned into a key: scrypt's parameters (RFC 7914) and the store's salt.
package struct PasscodeParameters: Sendable, Equatable {
    package static let saltByteCount = 32

    /// N as its logarithm to base two.
    package var cost: UInt8
    package var blockSize: UInt32
    package var parallelism: UInt32
    package var salt: Data

    package init(cost: UInt8, blockSize: UInt32, parallelism: UInt32, salt: Data) {
        self.cost = cost
        self.blockSize = blockSize
        self.parallelism = parallelism
        self.salt = salt
    }

    /// N = 2^17, r = 8, p = 1: 128 MiB and a good third of a second for each attempt.
    package static let defaultCost: UInt8 = 17
    /// No version has made a keybag with less.
    package static let leastCost: UInt8 = 17

    package static func make(cost: UInt8, randomness: some Randomness) throws(KeychainError) -> PasscodeParameters {
        var salt = Data(count: saltByteCount)
        try salt.withUnsafeMutableBytesTyped { bytes throws(KeychainError) in try randomness.fill(bytes) }
        return PasscodeParameters(cost: cost, blockSize: usualBlockSize, parallelism: 1, salt: salt)
    }

    static let costs: ClosedRange<UInt8> = 1...20

    /// Bounds that keep a forged file from asking for more memory than any real one.
    var areReasonable: Bool {
        Self.costs.contains(cost) && (1...8).contains(blockSize) && (1...4).contains(parallelism)
    }

    private static let usualBlockSize: UInt32 = 8

    /// Whether a guess takes at least as much work as with new parameters of that cost.
    package func takesWork(ofCost least: Int) -> Bool { Int(cost) >= least && blockSize >= Self.usualBlockSize }

    /// The output of scrypt for a passcode.
    ///
    /// - Throws: `.allocation` if there is no memory for it.
    func stretch(_ passcode: SecretBytes) throws(KeychainError) -> KeyMaterial {
        try KeyMaterial { target throws(KeychainError) in
            let isDerived = salt.withUnsafeBytes { salt in
                passcode.withUnsafeBytes { passcode in
                    Scrypt.derive(
                        passcode, salt: salt, cost: cost, blockSize: blockSize, parallelism: parallelism, into: target)
                }
            }
            guard isDerived else {
                throw KeychainError(
                    .allocation,
                    message: "the passcode could not be checked: that takes \(memory >> 20) MiB of memory")
            }
        }
    }

    private var memory: UInt64 { 128 * UInt64(blockSize) << UInt64(cost) }
}

/// The key that wraps class keys, made from a passcode, and a mark by which a wrong passcode is known again.
package struct PasscodeKey: Sendable {
    /// The key is of no use without the device key: the two are tangled.
    package let key: KeyMaterial
    /// HMAC of scrypt's output under a key of this device and store. A guess at it costs the same as one at the
    /// passcode, and needs the device key too.
    package let fingerprint: Data

    /// Takes a third of a second and 128 MiB with the default cost.
    ///
    /// - Throws: `.allocation` if there is no memory for it.
    package init(
        _ passcode: SecretBytes, _ parameters: PasscodeParameters, storeID: UUID, deviceKey: KeyMaterial
    ) throws(KeychainError) {
        let stretched = try parameters.stretch(passcode)
        let context = KeyContext(storeID)
        let extracted = try Self.extract(stretched, salt: "passcode tangle 1", context, deviceKey)
        key = try extracted.derived("passcode key 1", context)
        let mark = try Self.extract(stretched, salt: "attempt 1", context, deviceKey)
        fingerprint = mark.withUnsafeBytes { Data($0) }
    }

    /// HKDF-Extract (RFC 5869, section 2.2) with a salt that only this device has.
    private static func extract(
        _ stretched: KeyMaterial, salt label: String, _ context: KeyContext, _ deviceKey: KeyMaterial
    ) throws(KeychainError) -> KeyMaterial {
        try KeyMaterial { target throws(KeychainError) in
            deviceKey.withDerived(label, context) { salt in
                var hash = KeyedHash(key: salt)
                stretched.withUnsafeBytes { hash.update($0) }
                hash.finalize(into: target)
            }
        }
    }
}
