internal import Foundation
internal import KeychainCertificates
internal import KeychainKeys
internal import KeychainModel

extension SecItemDictionary {
    func addRequest() throws(KeychainError) -> AddRequest {
        try requireNoMatch()
        if itemClass == .identity {
            throw KeychainError(
                .parameter, message: "an identity is added as an object (kSecValueRef), or as a certificate and a key")
        }
        var request = try addRequest(itemClass, attributes, reference)
        if let secret { request.secret = try SecItemValue.secret(secret) }
        try requireReadable(request)
        return request
    }

    func requireNoMatch() throws(KeychainError) {
        if hasMatchFilters || limit != nil {
            throw KeychainError(.parameter, message: "adding an item takes no match keys (kSecMatch…)")
        }
        try requireNoSkip()
    }

    /// Makes the request for an item, or for half of an identity.
    func addRequest(
        _ itemClass: ItemClass, _ attributes: AttributeSet, _ reference: ItemReference?
    ) throws(KeychainError) -> AddRequest {
        var request = AddRequest(itemClass)
        request.attributes = attributes
        if let content = try reference?.content() {
            request.attributes.fill(with: content.attributes)
            request.secret = content.secret
        }
        request.accessGroup = accessGroup
        request.synchronizable = synchronizable == .yes
        request.accessControl = accessControl ?? protection.map { AccessControl($0) }
        request.expires = expires
        return request
    }

    /// Nothing is stored whose reference cannot be returned.
    private func requireReadable(_ request: AddRequest) throws(KeychainError) {
        guard returns.contains(.reference) else { return }
        switch itemClass {
        case .key where !request.attributes.nameEngineToken:
            _ = try AsymmetricKey(request.attributes, request.secret)
        case .certificate: _ = try SecCertificate(request.secret)
        default: break
        }
    }

    func findRequest() throws(KeychainError) -> FindRequest {
        if let unsupportedMatchKey {
            throw KeychainError(
                .unimplemented,
                message: "a search for a \(itemClass.title) cannot use the match key \(unsupportedMatchKey) yet")
        }
        var query = try query()
        // The limit counts the items that match the match keys.
        query.limit = match.isEmpty ? limit ?? .one : .all
        query.hostOrSubdomainOf = hostOrSubdomainOf
        if persistentReference != nil && hasFilters {
            throw KeychainError(
                .parameter, message: "a persistent reference stands alone: it takes no attributes beside it")
        }
        return FindRequest(
            query,
            wantsSecrets: returns.contains(.data) || !match.isEmpty
                || returns.contains(.reference) && [.key, .certificate, .identity].contains(itemClass))
    }

    func updateQuery() throws(KeychainError) -> ItemQuery {
        if !returns.isEmpty {
            throw KeychainError(.parameter, message: "an update returns nothing: leave out kSecReturn…")
        }
        if hasMatchFilters || limit != nil {
            throw KeychainError(
                .parameter, message: "an update takes no match keys (kSecMatch…): it changes all matches")
        }
        try requireNoSkip()
        return try query()
    }

    func deleteQuery() throws(KeychainError) -> ItemQuery {
        if hasMatchFilters || limit != nil && limit != .all {
            throw KeychainError(
                .parameter, message: "a deletion takes no match keys but kSecMatchLimitAll: it deletes all matches")
        }
        try requireNoSkip()
        return try query()
    }

    private func query() throws(KeychainError) -> ItemQuery {
        var query = ItemQuery(itemClass)
        switch expires {
        case nil: break
        case .at(let date): query.expires = date
        case .never, .after:
            throw KeychainError(.parameter, message: "a query names a date of expiry, and not that there is none")
        }
        query.attributes = attributes
        query.attributes.normalizeNames(of: itemClass)
        if let reference { query.attributes.fill(with: reference.identifying) }
        query.accessGroup = accessGroup
        query.protection = protection
        query.created = created
        query.modified = modified
        query.persistentReference = try persistentReference.map { data throws(KeychainError) in
            try PersistentReference(data: data)
        }
        // A reference means one item, wherever it is.
        query.synchronizable = synchronizable ?? (persistentReference == nil ? .no : .any)
        query.authenticationUI = authenticationUI
        return query
    }

    private var hasFilters: Bool {
        !attributes.isEmpty || accessGroup != nil || protection != nil || created != nil || modified != nil
            || expires != nil
            || synchronizable != nil || hostOrSubdomainOf != nil
    }

    private func requireNoSkip() throws(KeychainError) {
        guard authenticationUI != .skip else {
            throw KeychainError(.parameter, message: "kSecUseAuthenticationUISkip is for searches only")
        }
    }
}

/// The second dictionary of an update may hold attributes and the secret, and nothing else.
enum SecItemChanges {
    static func parse(_ dictionary: NSDictionary, for itemClass: ItemClass) throws(KeychainError) -> ItemChanges {
        var changes = ItemChanges()
        var protection: Protection?
        for (name, value) in try SecItemValue.entries(of: dictionary) {
            guard name != "v_Ref" else {
                throw KeychainError(.parameter, message: "an update cannot set another object (kSecValueRef)")
            }
            guard name != "v_Data" else {
                changes.secret = try SecItemValue.secret(value)
                continue
            }
            guard let attribute = Attribute(name) else {
                throw KeychainError(.noSuchAttribute, message: "an update cannot set \(String(reflecting: name))")
            }
            if attribute == .accessible {
                protection = try SecItemDictionary.protection(value)
            } else {
                try read(value, for: attribute, of: itemClass, into: &changes)
            }
        }
        if let protection {
            if let accessControl = changes.accessControl, accessControl != AccessControl(protection) {
                throw KeychainError(
                    .parameter, message: "kSecAttrAccessible and kSecAttrAccessControl exclude each other")
            }
            changes.accessControl = AccessControl(protection)
        }
        return changes
    }

    private static func read(
        _ value: AnyObject, for attribute: Attribute, of itemClass: ItemClass, into changes: inout ItemChanges
    ) throws(KeychainError) {
        switch attribute {
        case .noLegacy: break
        case .accessGroup: changes.accessGroup = try SecItemValue.text("kSecAttrAccessGroup", value)
        case .accessControl: changes.accessControl = try SecItemDictionary.accessControl(value)
        case .synchronizable: changes.synchronizable = try SecItemValue.synchronizable(value) == .yes
        case .expirationDate: changes.expires = try SecItemValue.expiry(value)
        case .creationDate: changes.created = try SecItemValue.date("kSecAttrCreationDate", value)
        // Always set by the keychain itself.
        case .modificationDate: _ = try SecItemValue.date("kSecAttrModificationDate", value)
        case .sharingGroup:
            throw KeychainError(.parameter, message: "an update cannot change an item's sharing group")
        default:
            let rule = try SecItemDictionary.rule(for: attribute, of: itemClass)
            changes.attributes.append(attribute, try SecItemValue.attribute(attribute, rule.kind, from: value))
        }
    }
}

extension AttributeSet {
    /// The names of a query for certificates: a whole SEQUENCE stands for its normalized content, which items have.
    fileprivate mutating func normalizeNames(of itemClass: ItemClass) {
        guard itemClass == .certificate || itemClass == .identity else { return }
        for attribute in [Attribute.issuer, .subject] {
            guard case .data(let data)? = self[attribute], let name = DistinguishedName.normalizedContent(of: data)
            else {
                continue
            }
            self[attribute] = .data(name)
        }
    }

    /// Adds the attributes that are not there yet.
    fileprivate mutating func fill(with others: AttributeSet) {
        for (attribute, value) in others.entries where self[attribute] == nil { append(attribute, value) }
    }
}

extension Attribute {
    fileprivate static let sharingGroup = Attribute("ggrp")!
}
