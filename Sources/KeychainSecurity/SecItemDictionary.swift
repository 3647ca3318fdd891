internal import Foundation
internal import KeychainClient
internal import KeychainModel

/// The dictionary of a call of one of the `SecItem` functions is read and checked here.
///
/// A malformed value becomes `errSecParam` in this type and its extensions alone.
struct SecItemDictionary {
    struct Returns: OptionSet {
        let rawValue: UInt8
        static let data = Returns(rawValue: 1)
        static let attributes = Returns(rawValue: 2)
        static let reference = Returns(rawValue: 4)
        static let persistentReference = Returns(rawValue: 8)
    }

    /// The limit is Apple's own, and no honest dictionary has more entries.
    private static let mostEntries = 128

    let itemClass: ItemClass
    var attributes = AttributeSet()
    var accessGroup: String?
    var protection: Protection?
    var accessControl: AccessControl?
    var synchronizable: ItemQuery.Synchronizable?
    var created: Double?
    var modified: Double?
    var expires: ItemExpiry?
    var secret: AnyObject?
    var persistentReference: Data?
    /// The object under `kSecValueRef`.
    var reference: ItemReference?
    var returns: Returns = []
    var limit: ItemQuery.Limit?
    var hostOrSubdomainOf: String?
    /// The dictionary has a match key other than the limit.
    var hasMatchFilters = false
    /// The conditions on certificates besides their attributes.
    var match = CertificateMatch()
    /// The match key is known and cannot be honoured, and an answer without it would be wrong.
    var unsupportedMatchKey: String?
    var authenticationUI = ItemQuery.AuthenticationUI.allow
    /// An entry of the dictionary forbids to ask the person.
    var forbidsQuestions = false
    var context: (any AuthenticationContext)?
    /// The reason is shown to the person who is asked.
    var prompt: String?
    var hasCredential = false

    init(_ dictionary: NSDictionary) throws(KeychainError) {
        guard dictionary.count <= Self.mostEntries else {
            throw KeychainError(.parameter, message: "the dictionary has \(dictionary.count) entries")
        }
        let entries = try SecItemValue.entries(of: dictionary)
        itemClass = try Self.itemClass(in: entries)
        for (name, value) in entries { try read(value, for: name) }
        // Only when all is read, since a dictionary has no order.
        if forbidsQuestions && authenticationUI == .allow { authenticationUI = .fail }
        try requireOneProtection()
        if context != nil && hasCredential {
            throw KeychainError(
                .parameter, message: "a dictionary has an authentication context or a credential reference, not both")
        }
    }

    /// Returns the class that the dictionary names, or else the class of its persistent reference.
    private static func itemClass(in entries: [(name: String, value: AnyObject)]) throws(KeychainError) -> ItemClass {
        // The object's own class counts, also beside another class.
        if let value = entries.first(where: { $0.name == "v_Ref" })?.value { return try ItemReference(value).itemClass }
        let referenced = try entries.first { $0.name == "v_PersistentRef" }
            .flatMap { SecItemValue.data($0.value) }
            .map { data throws(KeychainError) in try PersistentReference(data: data).itemClass }
        guard let value = entries.first(where: { $0.name == "class" })?.value else {
            if let referenced { return referenced }
            throw KeychainError(.parameter, message: "the dictionary names no item class (kSecClass)")
        }
        guard let name = SecItemValue.text(value) else { throw SecItemValue.wrongType("kSecClass", value) }
        guard let itemClass = ItemClass(rawValue: name) else {
            throw KeychainError(.noSuchClass, message: "there is no item class \(String(reflecting: name))")
        }
        if let referenced, referenced != itemClass {
            throw KeychainError(
                .noSuchClass,
                message: "the persistent reference is that of a \(referenced.title), not of a \(itemClass.title)")
        }
        return itemClass
    }

    // MARK: One entry

    private mutating func read(_ value: AnyObject, for name: String) throws(KeychainError) {
        if let attribute = Attribute(name) { return try read(value, for: attribute) }
        switch name.utf8.count < 2 ? nil : name.utf8.first {
        case UInt8(ascii: "c") where name == "class": break
        case UInt8(ascii: "m"): try readMatch(value, name)
        case UInt8(ascii: "r"): try readReturn(value, name)
        case UInt8(ascii: "u"): try readUse(value, name)
        case UInt8(ascii: "v"): try readValue(value, name)
        // Callbacks that only Apple's own programs use.
        case UInt8(ascii: "f"): break
        default: throw Self.unknown(name)
        }
    }

    private mutating func read(_ value: AnyObject, for attribute: Attribute) throws(KeychainError) {
        switch attribute {
        case .noLegacy: break
        case .accessGroup: accessGroup = try SecItemValue.text("kSecAttrAccessGroup", value)
        case .accessible: protection = try Self.protection(value)
        case .accessControl: accessControl = try Self.accessControl(value)
        case .synchronizable: synchronizable = try SecItemValue.synchronizable(value)
        case .expirationDate: expires = try SecItemValue.expiry(value)
        case .creationDate: created = try SecItemValue.date("kSecAttrCreationDate", value)
        case .modificationDate: modified = try SecItemValue.date("kSecAttrModificationDate", value)
        default:
            let rule = try Self.rule(for: attribute, of: itemClass)
            attributes.append(attribute, try SecItemValue.attribute(attribute, rule.kind, from: value))
        }
    }

    static func rule(for attribute: Attribute, of itemClass: ItemClass) throws(KeychainError) -> AttributeRule {
        if let rule = AttributeTable.table(for: itemClass)[attribute] { return rule }
        if attribute == .appClip {
            throw KeychainError(.parameter, message: "the attribute \(attribute.name) is Apple's own")
        }
        if Attribute.restricted.contains(attribute) {
            throw KeychainError(
                .missingEntitlement, message: "the attribute \(attribute.name) is open to Apple's own programs alone")
        }
        throw KeychainError(.noSuchAttribute, message: "a \(itemClass.title) has no attribute \(attribute.name)")
    }

    static func protection(_ value: AnyObject) throws(KeychainError) -> Protection {
        let name = try SecItemValue.text("kSecAttrAccessible", value)
        guard let protection = Protection(rawValue: name) else {
            throw KeychainError(.parameter, message: "there is no accessibility \(String(reflecting: name))")
        }
        return protection
    }

    static func accessControl(_ value: AnyObject) throws(KeychainError) -> AccessControl {
        guard let object = value as? SecAccessControl else {
            throw SecItemValue.wrongType("kSecAttrAccessControl", value)
        }
        return object.accessControl
    }

    private mutating func readReturn(_ value: AnyObject, _ name: String) throws(KeychainError) {
        let flag: Returns =
            switch name {
            case "r_Data": .data
            case "r_Attributes": .attributes
            case "r_Ref": .reference
            case "r_PersistentRef": .persistentReference
            default: throw Self.unknown(name)
            }
        if try SecItemValue.boolean(name, value) { returns.insert(flag) }
    }

    private mutating func readValue(_ value: AnyObject, _ name: String) throws(KeychainError) {
        switch name {
        case "v_Data": secret = value
        case "v_PersistentRef":
            guard let data = SecItemValue.data(value) else {
                throw SecItemValue.wrongType("kSecValuePersistentRef", value)
            }
            persistentReference = data
        case "v_Ref": reference = try ItemReference(value)
        default: throw Self.unknown(name)
        }
    }

    private static func unknown(_ name: String) -> KeychainError {
        KeychainError(.parameter, message: "the dictionary has an unknown key \(String(reflecting: name))")
    }

    // MARK: All entries

    /// Accessibility and access control may stand together only if the control asks for nothing but that accessibility.
    private func requireOneProtection() throws(KeychainError) {
        guard let protection, let accessControl, accessControl != AccessControl(protection) else { return }
        throw KeychainError(
            .parameter, message: "kSecAttrAccessible and kSecAttrAccessControl exclude each other: leave one out")
    }
}

extension Attribute {
    /// `kSecUseDataProtectionKeychain` says nothing new, since there is no other keychain here.
    static let noLegacy = Attribute("nleg")!
    /// `kSecAttrExpirationDate`, which Apple's keychain does not have.
    static let expirationDate = Attribute("xdat")!
}
