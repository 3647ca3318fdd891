public import Foundation
internal import KeychainModel

// MARK: Passwords

extension KeychainItem where Kind: KeychainPasswordKind {
    /// Whose password it is.
    public var account: String? {
        get { self[text: .account] }
        set { self[text: .account] = newValue }
    }

    /// What kind of item it is, for a person to read (`kSecAttrDescription`).
    public var itemDescription: String? {
        get { self[text: .description] }
        set { self[text: .description] = newValue }
    }

    /// For a person to read, and to write.
    public var comment: String? {
        get { self[text: .comment] }
        set { self[text: .comment] = newValue }
    }

    /// The program that made it, as a code of four characters.
    public var creator: Int? {
        get { self[number: .creator] }
        set { self[number: .creator] = newValue }
    }

    /// The program's own kind of item, as a code of four characters.
    public var type: Int? {
        get { self[number: .type] }
        set { self[number: .type] = newValue }
    }

    /// The encoding of the texts on early Macs.
    public var scriptCode: Int? {
        get { self[number: .scriptCode] }
        set { self[number: .scriptCode] = newValue }
    }

    /// Whether programs that list items should leave it out. None has to.
    public var isInvisible: Bool? {
        get { self[flag: .isInvisible] }
        set { self[flag: .isInvisible] = newValue }
    }

    /// Whether the item says that there is no password, and it is to be asked for each time.
    public var isNegative: Bool? {
        get { self[flag: .isNegative] }
        set { self[flag: .isNegative] = newValue }
    }

    /// Whether it has an icon of its own on a Mac.
    public var hasCustomIcon: Bool? {
        get { self[flag: .hasCustomIcon] }
        set { self[flag: .hasCustomIcon] = newValue }
    }
}

// MARK: Generic passwords

extension KeychainItem where Kind == KeychainItemKinds.GenericPassword {
    /// What the password is for.
    public var service: String? {
        get { self[text: .service] }
        set { self[text: .service] = newValue }
    }

    /// The program's own bytes.
    public var generic: Data? {
        get { self[data: .generic] }
        set { self[data: .generic] = newValue }
    }
}

// MARK: Internet passwords

extension KeychainItem where Kind == KeychainItemKinds.InternetPassword {
    /// The host's name or address.
    public var server: String? {
        get { self[text: .server] }
        set { self[text: .server] = newValue }
    }

    /// Where the server listens; 0: none is named.
    public var port: Int? {
        get { self[number: .port] }
        set { self[number: .port] = newValue }
    }

    /// The part of the server that it is for.
    public var path: String? {
        get { self[text: .path] }
        set { self[text: .path] = newValue }
    }

    /// The realm that the server names.
    public var securityDomain: String? {
        get { self[text: .securityDomain] }
        set { self[text: .securityDomain] = newValue }
    }

    /// What is spoken with the server. nil: none is named, or one that Apple's keychain has no name for.
    public var `protocol`: Keychain.InternetProtocol? {
        get { self[text: .internetProtocol].flatMap(Keychain.InternetProtocol.init) }
        set { self[text: .internetProtocol] = newValue?.rawValue }
    }

    /// How a client shows itself to the server. nil: no way is named, or one that Apple's keychain has no name for.
    public var authenticationType: Keychain.AuthenticationType? {
        get { self[text: .authenticationType].flatMap(Keychain.AuthenticationType.init) }
        set { self[text: .authenticationType] = newValue?.rawValue }
    }
}
