internal import ArgumentParser
internal import KeychainClient
internal import KeychainCrypto
internal import KeychainKeys
internal import KeychainModel

struct NewKey: ParsableArguments {
    @Option(help: "The tag, by which commands and programs name the key.") var tag: String
    @Option(help: "The label, for people.") var label: String?
    @Option(help: "The access group.") var group = "keychain"
    @OptionGroup var protection: ItemProtection
    @OptionGroup var authentication: AuthenticationOptions
    @Flag(help: "Mark the item as one that may be synchronized.") var sync = false

    func validate() throws {
        if group.isEmpty { throw ValidationError("An access group cannot have an empty name.") }
        if tag.isEmpty { throw ValidationError("A key's tag cannot be empty.") }
    }

    var consent: Asking { authentication.asking(reason: "store a key: tag \(tag)") }

    /// - Parameter key: nil: the engine makes the key.
    func request(for key: AsymmetricKey? = nil) throws -> AddRequest {
        var request = AddRequest(.key)
        if let key {
            request.attributes = KeyItemAttributes(key).all
            request.secret = SecretBytes(copying: key.externalRepresentation)
        }
        request.attributes[.applicationTag] = .text(tag)
        if let label { request.attributes[.label] = .text(label) }
        request.accessGroup = group
        request.synchronizable = sync
        request.accessControl = try protection.accessControl()
        return request
    }
}
