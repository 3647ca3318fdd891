public import Foundation
internal import KeychainModel

/// Which of the five classes an item is of. The types that conform are in ``KeychainItemKinds``; there are no others.
public protocol KeychainItemKind: Sendable {
    /// Its name.
    static var itemClass: KeychainItemClass { get }
}

/// The kinds that have the attributes of passwords.
public protocol KeychainPasswordKind: KeychainItemKind {}

/// The kinds that have the attributes of certificates.
public protocol KeychainCertificateKind: KeychainItemKind {}

/// The kinds that have the attributes of keys.
public protocol KeychainKeyKind: KeychainItemKind {}

/// The classes of items, as Apple's `kSecClass…` constants name them.
public enum KeychainItemClass: Sendable, Hashable, CaseIterable {
    case genericPassword
    case internetPassword
    case certificate
    case key
    /// A certificate and its private key, each of which is an item of its own. It is found, and not added.
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

/// The five kinds of items. Use their short names: ``Keychain/GenericPassword`` and so on.
public enum KeychainItemKinds {
    public enum GenericPassword: KeychainPasswordKind {
        public static let itemClass = KeychainItemClass.genericPassword
    }

    public enum InternetPassword: KeychainPasswordKind {
        public static let itemClass = KeychainItemClass.internetPassword
    }

    public enum Certificate: KeychainCertificateKind {
        public static let itemClass = KeychainItemClass.certificate
    }

    public enum Key: KeychainKeyKind {
        public static let itemClass = KeychainItemClass.key
    }

    public enum Identity: KeychainCertificateKind, KeychainKeyKind {
        public static let itemClass = KeychainItemClass.identity
    }
}

extension Keychain {
    /// A password, token or other secret of a service.
    public typealias GenericPassword = KeychainItem<KeychainItemKinds.GenericPassword>
    /// A password for a server.
    public typealias InternetPassword = KeychainItem<KeychainItemKinds.InternetPassword>
    /// A certificate.
    public typealias Certificate = KeychainItem<KeychainItemKinds.Certificate>
    /// A key's bytes.
    public typealias Key = KeychainItem<KeychainItemKinds.Key>
    /// A certificate and its private key.
    public typealias Identity = KeychainItem<KeychainItemKinds.Identity>
}

/// An item with every attribute that its class has: for what ``Keychain`` with its keys and values does not reach.
///
/// It is a value: what is stored changes with the calls of ``KeychainItems`` alone. An attribute that is nil is not there; an
/// attribute of text that other code stored as bytes is nil too, if they are no UTF-8.
public struct KeychainItem<Kind: KeychainItemKind>: Sendable {
    var attributes = AttributeSet()
    var secretBytes: SecretBytes?
    var certificateBytes: SecretBytes?
    var reference: PersistentReference?

    /// nil in a new item: the program's first group.
    public var accessGroup: String?
    /// nil in a new item: "always" for certificates, "when unlocked" for all else.
    public var accessControl: Keychain.AccessControl?
    /// Items that are marked so are other items than those that are not.
    public var isSynchronizable = false
    /// Set when the item is added; an update may set another one.
    public var created: Date?
    /// Set whenever the item is stored: a value of the program's own is not.
    public var modified: Date?

    /// An item without any attribute.
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
    }

    /// A copy of the secret, which is not erased; nil: there is none, or it was not asked for.
    public var secret: Data? {
        get { secretBytes?.copyData() }
        set { secretBytes = newValue.map { SecretBytes($0) } }
    }

    /// Twenty bytes that name the item for as long as it exists, whatever becomes of its attributes. nil: it is not stored.
    public var persistentReference: Data? { reference?.data }

    // MARK: Every class

    /// For a person to read.
    public var label: String? {
        get { self[text: .label] }
        set { self[text: .label] = newValue }
    }

    /// Apple's `kSecAttrSyncViewHint`: part of what tells items apart, and nothing else.
    public var viewHint: String? {
        get { self[text: .viewHint] }
        set { self[text: .viewHint] = newValue }
    }

    /// Apple's `kSecAttrTokenID`: the token that the item is of.
    public var tokenID: String? {
        get { self[text: .tokenID] }
        set { self[text: .tokenID] = newValue }
    }

    /// Another name for the item, not for a person to read.
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
            case .text(let text): text
            case .data(let data): String(validating: data, as: UTF8.self)
            case .number(let number): String(number)
            case .date, nil: nil
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
