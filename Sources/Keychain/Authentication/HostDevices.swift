// As the engine, which stays out of sight (docs/decisions/008-the-engine-stays-out-of-sight.md): both bring C modules.
@_implementationOnly import KeychainBiometry
package import KeychainModel
@_implementationOnly import KeychainPrompt

/// What this machine has to ask a person with, and to see one.
package enum HostDevices {
    /// For the whole process, so that two questions are asked one after the other.
    package static let prompter: any Prompter = systemPrompter()

    private static func systemPrompter() -> any Prompter { SystemPrompter() }

    /// Of the embedded host. Behind a daemon the reader is the daemon's.
    static func biometryReader() -> any BiometryReader {
        KeychainBiometry.provider.map { ProvidedReader($0) } ?? FingerprintReader()
    }
}
