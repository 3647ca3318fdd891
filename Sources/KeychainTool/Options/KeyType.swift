internal import ArgumentParser
internal import KeychainCrypto
internal import KeychainKeys

/// The kinds of key that can be made, each with its size in bits.
enum KeyType: String, CaseIterable, ExpressibleByArgument {
    case ec256, ec384, ec521, rsa2048, rsa3072, rsa4096

    var kind: AsymmetricKey.Kind { rawValue.hasPrefix("rsa") ? .rsa : .ec }

    var bitCount: Int {
        switch self {
        case .ec256: 256
        case .ec384: 384
        case .ec521: 521
        case .rsa2048: 2048
        case .rsa3072: 3072
        case .rsa4096: 4096
        }
    }
}

extension KeyFileFormat: ExpressibleByArgument {}
