internal import Foundation
internal import KeychainClient
internal import KeychainSecurity
internal import SwiftKeychain

/// Signing with a key that is in the daemon, against what it cannot be less than: a look-up through the daemon, and the bare
/// signature 1.25 times.
struct DaemonKeyBenchmark {
    let setup: DaemonSetup
    let count: Int
    let batches: Int

    private let message = Data((0..<256).map { UInt8($0) })

    func run() throws -> [Row] {
        let daemon = try setup.startDaemon()
        let item = SampleItem.stored(0, of: setup.layout.items)
        _ = try daemon.firstAnswer(to: item.findRequest)
        let connection = daemon.connection()
        return try Connection.$override.withValue(connection) {
            let far = try PrivateKey(try makeKey(inEngine: true), .ecdsaSignatureMessageX962SHA256)
            defer { SecItemDelete([kSecClass: kSecClassKey, kSecAttrApplicationTag: Self.tag] as CFDictionary) }
            let near = try PrivateKey(try makeKey(inEngine: false), .ecdsaSignatureMessageX962SHA256)
            let turns = InTurn(count: count, batches: batches)
            let signing = try turns.samples(
                of: { _ = try far.sign(message) }, and: { try connection.perform(item.findRequest).requireSecrets(1) })
            let bare = try turns.samples(of: { _ = try near.sign(message) }, and: {}).ours
            let least = Figure(samples: signing.floor).median + 1.25 * Figure(samples: bare).median
            return [
                Row(
                    work: "sign with a key in the daemon, against a look-up through it and 1.25 bare signatures",
                    items: setup.layout.items, unit: .microseconds, floor: Figure(least),
                    engine: Figure(samples: signing.ours), measure: .ratio, goal: 1)
            ]
        }
    }

    private static let tag = "keychain-benchmark"

    private func makeKey(inEngine: Bool) throws -> SecKey {
        var parameters: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
        ]
        if inEngine {
            parameters[kSecAttrTokenID] = kSecAttrTokenIDSecureEnclave
            parameters[kSecPrivateKeyAttrs] = [kSecAttrApplicationTag: Self.tag] as CFDictionary
        }
        guard let key = SecKeyCreateRandomKey(parameters as CFDictionary, nil) else {
            throw BenchmarkError("SecKeyCreateRandomKey failed")
        }
        return key
    }
}
