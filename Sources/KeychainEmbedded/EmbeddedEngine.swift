internal import KeychainBiometry
internal import KeychainEngine
internal import KeychainModel
internal import KeychainPrompt

/// Leaves the host in a box, which is an `EmbeddedHostBox`. The caller keeps its reference.
///
/// Only `KeychainClient` declares and calls this function. Swift 6.2 does not have the attribute `@c`.
@_cdecl("keychain_embedded_open")
public func openEmbeddedHost(_ box: UnsafeMutableRawPointer) {
    Unmanaged<EmbeddedHostBox>.fromOpaque(box).takeUnretainedValue().host = EmbeddedEngine.shared
}

final class EmbeddedEngine: EmbeddedHost {
    static let shared = EmbeddedEngine()

    let prompter: any Prompter = SystemPrompter()

    func open(
        _ location: StoreLocation, as host: StoreHost, biometry: (any BiometryReader)?
    ) throws(KeychainError) -> any RequestHandler {
        var configuration = configuration(location, biometry)
        configuration.host = host
        return try Engine(configuration)
    }

    func handOver(_ location: StoreLocation, from former: StoreHost?, to host: StoreHost) throws(KeychainError) {
        try StoreHandover(configuration(location)).handOver(from: former, to: host)
    }

    func openForTest(
        _ location: StoreLocation, clock: any Clock, biometry: any BiometryReader
    ) throws(KeychainError) -> any RequestHandler {
        var configuration = EngineConfiguration(location)
        configuration.clock = clock
        configuration.biometry = biometry
        configuration.passcodeCost = 4
        configuration.isDurable = false
        // The keyring of the user would show the keys to other tests.
        configuration.usesKeyring = false
        return try Engine(configuration)
    }

    func forgetKeys(of engine: any RequestHandler) { (engine as? Engine)?.withdrawKeys() }

    func lockUnopened(_ location: StoreLocation, _ request: LockRequest) throws(KeychainError) {
        try UnopenedStore.lock(configuration(location), request)
    }

    private func configuration(
        _ location: StoreLocation, _ biometry: (any BiometryReader)? = nil
    ) -> EngineConfiguration {
        var configuration = EngineConfiguration(location)
        configuration.biometry = biometry ?? FingerprintReader()
        return configuration
    }
}
