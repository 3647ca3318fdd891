public import FoundationEssentials
internal import KeychainModel

/// One of the five classes of items, as a type parameter of ``KeychainItem``.
///
/// The types that conform are in ``KeychainItemKinds``. A program does not add others: calls would find no such class.
public protocol KeychainItemKind: Sendable {
    /// The class of the items.
    static var itemClass: KeychainItemClass { get }
}

/// The classes that have the attributes of passwords: generic and internet passwords.
public protocol KeychainPasswordKind: KeychainItemKind {}

/// The classes that have the attributes of certificates: certificates and identities.
public protocol KeychainCertificateKind: KeychainItemKind {}

/// The classes that have the attributes of keys: keys and identities.
public protocol KeychainKeyKind: KeychainItemKind {}

/// The classes of items, as Apple's `kSecClass…` constants name them.
public enum KeychainItemClass: Sendable, Hashable, CaseIterable {
    /// A password, token or other secret of a service (`kSecClassGenericPassword`). ``Keychain`` stores its values in
    /// this class.
    case genericPassword
    /// A password for an account on a server (`kSecClassInternetPassword`).
    case internetPassword
    /// A certificate (`kSecClassCertificate`). It is stored as bytes and is not checked.
    case certificate
    /// The bytes of a key (`kSecClassKey`). `SecKey` of the module `KeychainSecurity` signs and encrypts with it.
    case key
    /// A certificate and its private key (`kSecClassIdentity`), each of which is an item of its own.
    ///
    /// An identity is found where the certificate's public-key hash is the key's application label. It cannot be added.
    case identity

    var model: ItemClass {
        switch self {
        case .genericPassword: .genericPassword
        case .internetPassword: .internetPassword
        case .certificate: .certificate
        case .key: .key
        case .identity: .identity
        }
    }
}

/// The five classes as types. Programs use the short names: ``Keychain/GenericPassword`` and so on.
public enum KeychainItemKinds {
    /// The class of ``Keychain/GenericPassword``.
    public enum GenericPassword: KeychainPasswordKind {
        /// The class as a value: `kSecClassGenericPassword`.
        public static let itemClass = KeychainItemClass.genericPassword
    }

    /// The class of ``Keychain/InternetPassword``.
    public enum InternetPassword: KeychainPasswordKind {
        /// The class as a value: `kSecClassInternetPassword`.
        public static let itemClass = KeychainItemClass.internetPassword
    }

    /// The class of ``Keychain/Certificate``.
    public enum Certificate: KeychainCertificateKind {
        /// The class as a value: `kSecClassCertificate`.
        public static let itemClass = KeychainItemClass.certificate
    }

    /// The class of ``Keychain/Key``.
    public enum Key: KeychainKeyKind {
        /// The class as a value: `kSecClassKey`.
        public static let itemClass = KeychainItemClass.key
    }

    /// The class of ``Keychain/Identity``, which has the attributes of certificates and those of keys.
    public enum Identity: KeychainCertificateKind, KeychainKeyKind {
        /// The class as a value: `kSecClassIdentity`.
        public static let itemClass = KeychainItemClass.identity
    }
}

extension Keychain {
    /// A password, token or other secret of a service. Account and service tell such items apart.
    public typealias GenericPassword = KeychainItem<KeychainItemKinds.GenericPassword>
    /// A password for a server. Account, server, path, realm, port, protocol and authentication tell such items apart.
    public typealias InternetPassword = KeychainItem<KeychainItemKinds.InternetPassword>
    /// A certificate. Type, issuer and serial number tell certificates apart.
    public typealias Certificate = KeychainItem<KeychainItemKinds.Certificate>
    /// The bytes of a key. Class, type, size, labels, creator and dates tell keys apart.
    public typealias Key = KeychainItem<KeychainItemKinds.Key>
    /// A certificate and its private key, which are found and never added.
    public typealias Identity = KeychainItem<KeychainItemKinds.Identity>
}

/// An item with every attribute of its class, for code that needs more than the keys and values of ``Keychain``.
///
/// ```swift
/// var password = Keychain.InternetPassword()
/// password.server = "example.com"
/// password.account = "alice"
/// password.secret = Data("s3cret".utf8)
/// let stored = try KeychainItems().add(password)
/// ```
///
/// It is a value: setting a property changes nothing that is stored, which only the calls of ``KeychainItems`` do.
///
/// An attribute that is absent is `nil`. A text that other code stored as bytes is `nil` too if the bytes are not
/// UTF-8. All attributes are encrypted with the item. Two items of one class in one group never agree in all of the
/// attributes that tell them apart.
public struct KeychainItem<Kind: KeychainItemKind>: Sendable {
    var attributes = AttributeSet()
    var secretBytes: SecretBytes?
    var certificateBytes: SecretBytes?
    var reference: PersistentReference?

    /// The access group of the item. `nil` in a new item means the program's first group (`kSecAttrAccessGroup`).
    public var accessGroup: String?
    /// The conditions for using the item (`kSecAttrAccessControl`).
    ///
    /// `nil` in a new item means "always" for certificates and "when unlocked" for all others.
    public var accessControl: Keychain.AccessControl?
    /// Whether the item is marked as synchronizable (`kSecAttrSynchronizable`). The mark sends nothing to other
    /// devices.
    ///
    /// Items with the mark are other items than those without it.
    public var isSynchronizable = false
    /// The date at which the item was added (`kSecAttrCreationDate`). Adding sets it, and an update may set another
    /// one.
    public var created: Date?
    /// The date at which the item was last stored (`kSecAttrModificationDate`). Storing sets it and ignores a program's
    /// own value.
    public var modified: Date?
    /// The moment from which the item is gone, to the millisecond: see ``Keychain/Expiration``.
    ///
    /// `nil` in an item that was found means never. Adding and updating take it as a parameter.
    public internal(set) var expires: Date?

    /// Makes an item without attributes. It opens nothing and stores nothing.
    public init() {}

    init(_ item: Item) {
        attributes = item.attributes
        secretBytes = item.secret
        certificateBytes = item.certificate
        reference = item.persistentReference
        accessGroup = item.accessGroup
        accessControl = Keychain.AccessControl(item.accessControl)
        isSynchronizable = item.synchronizable
        created = Date(timeIntervalSinceReferenceDate: item.created)
        modified = Date(timeIntervalSinceReferenceDate: item.modified)
        expires = item.expires.map { Date(timeIntervalSinceReferenceDate: $0.seconds) }
    }

    /// The secret (`kSecValueData`), as a copy in memory that is not erased.
    ///
    /// `nil` means that there is none, or that the search did not ask for it with `wantsSecrets`. In an update, `nil`
    /// leaves the stored secret as it is.
    public var secret: Data? {
        get { secretBytes?.copyData() }
        set { secretBytes = newValue.map { SecretBytes($0) } }
    }

    /// Twenty bytes that name the stored item, even after its attributes have changed (`kSecValuePersistentRef`).
    ///
    /// It is `nil` in an item that is not stored. ``KeychainQuery/persistentReference`` finds the item by it.
    public var persistentReference: Data? { reference?.data }

    // MARK: Every class

    /// A text for a person, such as the name of the item in a list (`kSecAttrLabel`).
    public var label: String? {
        get { self[text: .label] }
        set { self[text: .label] = newValue }
    }

    /// A text that takes part in telling items apart and has no other effect (`kSecAttrSyncViewHint`).
    public var viewHint: String? {
        get { self[text: .viewHint] }
        set { self[text: .viewHint] = newValue }
    }

    /// The token that the item belongs to (`kSecAttrTokenID`). It takes part in telling items apart and has no other
    /// effect.
    public var tokenID: String? {
        get { self[text: .tokenID] }
        set { self[text: .tokenID] = newValue }
    }

    /// Another name for the item, as bytes for a program and not for a person (`kSecAttrAlias`).
    public var alias: Data? {
        get { self[data: .alias] }
        set { self[data: .alias] = newValue }
    }
}

// MARK: - Values of attributes

extension KeychainItem {
    subscript(text attribute: Attribute) -> String? {
        get {
            switch attributes[attribute] {
            case .number(let number): String(number)
            case let value: value?.text
            }
        }
        set { attributes[attribute] = newValue.map { .text($0) } }
    }

    subscript(data attribute: Attribute) -> Data? {
        get {
            switch attributes[attribute] {
            case .data(let data): data
            case .text(let text): Data(text.utf8)
            case .number, .date, nil: nil
            }
        }
        set { attributes[attribute] = newValue.map { .data($0) } }
    }

    subscript(number attribute: Attribute) -> Int? {
        get {
            switch attributes[attribute] {
            case .number(let number): Int(number)
            case .text(let text): Int(text)
            case .data, .date, nil: nil
            }
        }
        set { attributes[attribute] = newValue.map { .number(Int64($0)) } }
    }

    subscript(flag attribute: Attribute) -> Bool? {
        get { self[number: attribute].map { $0 != 0 } }
        set { self[number: attribute] = newValue.map { $0 ? 1 : 0 } }
    }

    subscript(date attribute: Attribute) -> Date? {
        get {
            guard case .date(let seconds) = attributes[attribute] else { return nil }
            return Date(timeIntervalSinceReferenceDate: seconds)
        }
        set { attributes[attribute] = newValue.map { .date($0.timeIntervalSinceReferenceDate) } }
    }
}
