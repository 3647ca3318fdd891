internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainClient

/// The place of the keychain. Every command has these two options.
struct StoreOptions: ParsableArguments {
    @Option(
        name: .customLong("store"),
        help: ArgumentHelp("The store's directory.", valueName: "directory"), completion: .directory)
    var storeDirectory: String?

    @Option(
        name: .customLong("device-key"),
        help: ArgumentHelp("The directory of the device key the store was made with.", valueName: "directory"),
        completion: .directory)
    var deviceKeyDirectory: String?

    func validate() throws {
        if storeDirectory?.isEmpty == true || deviceKeyDirectory?.isEmpty == true {
            throw ValidationError("A directory cannot have an empty name.")
        }
    }

    var configuration: KeychainConfiguration {
        var configuration = KeychainConfiguration()
        configuration.storeDirectory = storeDirectory.map { URL(namedByPerson: $0, isDirectory: true) }
        configuration.deviceKeyDirectory = deviceKeyDirectory.map { URL(namedByPerson: $0, isDirectory: true) }
        return configuration
    }
}
