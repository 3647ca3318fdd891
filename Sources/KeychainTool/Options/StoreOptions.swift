internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc
internal import KeychainClient
internal import KeychainSystem

/// The place of the keychain. Every command has these options.
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

    @Option(
        help: ArgumentHelp(
            "You, by name: a new store may be yours in a directory of another user.", valueName: "user"))
    var owner: String?

    func validate() throws {
        if let owner {
            let name = AccountDatabase.name(of: geteuid())
            guard [name, "\(geteuid())"].contains(owner) else {
                throw ValidationError(
                    "A new keychain belongs to the user who makes it, here \(name ?? "\(geteuid())"). Try: sudo -u "
                        + "\(owner) keychainctl …")
            }
        }
        if storeDirectory?.isEmpty == true || deviceKeyDirectory?.isEmpty == true {
            throw ValidationError("A directory cannot have an empty name.")
        }
    }

    var configuration: KeychainConfiguration {
        var configuration = KeychainConfiguration()
        configuration.storeDirectory = storeDirectory.map { URL(namedByPerson: $0, isDirectory: true) }
        configuration.deviceKeyDirectory = deviceKeyDirectory.map { URL(namedByPerson: $0, isDirectory: true) }
        configuration.mayLieAmongOthers = owner != nil
        return configuration
    }
}
