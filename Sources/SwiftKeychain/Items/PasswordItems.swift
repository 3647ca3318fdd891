public import FoundationEssentials
internal import KeychainModel

// MARK: Passwords

extension KeychainItem where Kind: KeychainPasswordKind {
    /// The account that the password is for (`kSecAttrAccount`). For ``Keychain`` it is the key, behind the prefix.
    public var account: String? {
        get { self[text: .account] }
        set { self[text: .account] = newValue }
    }

    /// The kind of the item, as a text for a person, such as "Wi-Fi password" (`kSecAttrDescription`).
    public var itemDescription: String? {
        get { self[text: .description] }
        set { self[text: .description] = newValue }
    }

    /// A remark that a person may read and change (`kSecAttrComment`).
    public var comment: String? {
        get { self[text: .comment] }
        set { self[text: .comment] = newValue }
    }

    /// The program that made the item, as the number of a four-character code (`kSecAttrCreator`).
    public var creator: Int? {
        get { self[number: .creator] }
        set { self[number: .creator] = newValue }
    }

    /// The program's own kind of item, as the number of a four-character code (`kSecAttrType`).
    public var type: Int? {
        get { self[number: .type] }
        set { self[number: .type] = newValue }
    }

    /// The encoding of the texts on early Macs (`kSecAttrScriptCode`). The library does not use it.
    public var scriptCode: Int? {
        get { self[number: .scriptCode] }
        set { self[number: .scriptCode] = newValue }
    }

    /// Whether programs that list items should leave this one out (`kSecAttrIsInvisible`). The library itself does not.
    public var isInvisible: Bool? {
        get { self[flag: .isInvisible] }
        set { self[flag: .isInvisible] = newValue }
    }

    /// Whether the item says that no password is stored, and that a person is to be asked each time
    /// (`kSecAttrIsNegative`).
    public var isNegative: Bool? {
        get { self[flag: .isNegative] }
        set { self[flag: .isNegative] = newValue }
    }

    /// Whether the item has an icon of its own on a Mac (`kSecAttrHasCustomIcon`).
    public var hasCustomIcon: Bool? {
        get { self[flag: .hasCustomIcon] }
        set { self[flag: .hasCustomIcon] = newValue }
    }
}

// MARK: Generic passwords

extension KeychainItem where Kind == KeychainItemKinds.GenericPassword {
    /// The service that the password is for, by convention the program's name (`kSecAttrService`).
    public var service: String? {
        get { self[text: .service] }
        set { self[text: .service] = newValue }
    }

    /// Bytes of the program's own, which a search can name (`kSecAttrGeneric`). They do not tell items apart.
    public var generic: Data? {
        get { self[data: .generic] }
        set { self[data: .generic] = newValue }
    }
}

// MARK: Internet passwords

extension KeychainItem where Kind == KeychainItemKinds.InternetPassword {
    /// The host's name or address, compared byte by byte (`kSecAttrServer`).
    public var server: String? {
        get { self[text: .server] }
        set { self[text: .server] = newValue }
    }

    /// The port at which the server listens (`kSecAttrPort`). 0 means that none is named.
    public var port: Int? {
        get { self[number: .port] }
        set { self[number: .port] = newValue }
    }

    /// The part of the server that the password is for (`kSecAttrPath`).
    public var path: String? {
        get { self[text: .path] }
        set { self[text: .path] = newValue }
    }

    /// The realm that the server names when it asks for a password (`kSecAttrSecurityDomain`).
    public var securityDomain: String? {
        get { self[text: .securityDomain] }
        set { self[text: .securityDomain] = newValue }
    }

    /// The protocol that is spoken with the server (`kSecAttrProtocol`).
    ///
    /// It is `nil` if none is named, or if Apple's keychain has no name for the stored one.
    public var `protocol`: Keychain.InternetProtocol? {
        get { self[text: .internetProtocol].flatMap(Keychain.InternetProtocol.init) }
        set { self[text: .internetProtocol] = newValue?.rawValue }
    }

    /// The way in which a client authenticates itself to the server (`kSecAttrAuthenticationType`).
    ///
    /// It is `nil` if none is named, or if Apple's keychain has no name for the stored one.
    public var authenticationType: Keychain.AuthenticationType? {
        get { self[text: .authenticationType].flatMap(Keychain.AuthenticationType.init) }
        set { self[text: .authenticationType] = newValue?.rawValue }
    }
}
