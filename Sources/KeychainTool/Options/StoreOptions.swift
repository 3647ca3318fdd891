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
            "You, by name: what root makes in the home of somebody else may be root's.", valueName: "user"))
    var owner: String?

    func validate() throws {
        if let owner {
            let name = AccountDatabase.name(of: geteuid())
            guard [name, "\(geteuid())"].contains(owner) else {
                throw ValidationError(
                    "A new keychain belongs to the user who makes it, here \(name ?? "\(geteuid())"). Try: sudo -u "
                        + "'\(owner)' keychainctl …")
            }
        }
        try NameKind.directory.require(storeDirectory, deviceKeyDirectory)
    }

    var configuration: KeychainConfiguration {
        var configuration = KeychainConfiguration()
        configuration.storeDirectory = storeDirectory.map { URL(namedByPerson: $0, isDirectory: true) }
        configuration.deviceKeyDirectory = deviceKeyDirectory.map { URL(namedByPerson: $0, isDirectory: true) }
        configuration.mayLieInOthersHomes = owner != nil
        return configuration
    }
}

/// The files that a command is about.
struct PathArguments: ParsableArguments {
    @Argument(help: "The files.", completion: .file()) var paths: [String]

    func validate() throws { try NameKind.file.require(paths) }
}

/// The option of a command whose output is never JSON.
struct JSONErrors: ParsableArguments {
    @Flag(name: .customLong("json"), help: "Write errors and notes as JSON, one object a line.") var isChosen = false
}

/// The things that have a name on the command line, which cannot be empty.
enum NameKind: String {
    case file = "A file"
    case directory = "A directory"
    case group = "An access group"
    case command = "A command"
    case item = "An item"

    func require(_ names: String?...) throws { try require(names.compactMap(\.self)) }

    func require(_ names: [String]) throws {
        if names.contains("") { throw ValidationError("\(rawValue) cannot have an empty name.") }
    }
}

/// The option whether a person may be asked for authentication.
struct AuthenticationOptions: ParsableArguments {
    @Flag(help: "Ask nobody: fail (36) where an item wants a passcode, a finger or a password.")
    var noInteraction = false

    /// - Parameter reason: The action that the person allows, as the end of "keychainctl wants to …".
    /// - Returns: a way to ask once in a run of the command: the answers serve all its calls.
    func asking(reason: String) -> Asking {
        Asking(in: AuthenticationSession(), reason: reason, mayAsk: !noInteraction)
    }
}
