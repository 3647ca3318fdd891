internal import Foundation

// What is asked of items. What the engine takes for granted is made sure of here: docs/protocol.md lists it.

extension WireAdd {
    init(_ request: AddRequest, _ secrets: inout [SecretBytes]) {
        self.init()
        itemClass = WireItemClass(request.itemClass)
        if !request.attributes.isEmpty { attributes = WireAttributes(request.attributes) }
        if let group = request.accessGroup { accessGroup = group }
        synchronizable = request.synchronizable
        if let control = request.accessControl {
            protection = WireProtection(control.protection)
            accessFlags = control.flags.rawValue
            accessExtension = Data(control.extensionBytes)
        }
        if let secret = request.secret { secretSize = secrets.size(adding: secret) }
    }
}

extension AddRequest {
    init(_ wire: WireAdd, _ tail: inout WireTail) throws(KeychainError) {
        self.init(try ItemClass(wire.itemClass))
        // No row of its own is ever stored.
        guard itemClass != .identity else {
            throw KeychainError(.parameter, message: "an identity is added as a certificate and a key, one by one")
        }
        attributes = try AttributeSet(wire.attributes, of: itemClass)
        accessGroup = wire.hasAccessGroup ? wire.accessGroup : nil
        synchronizable = wire.synchronizable
        accessControl = try .ifAny(
            wire.hasProtection ? wire.protection : nil, flags: wire.accessFlags, wire.accessExtension)
        secret = try tail.take(ifAny: wire.hasSecretSize ? wire.secretSize : nil)
    }
}

extension WireQuery {
    init(_ request: FindRequest) {
        self.init(request.query)
        wantsSecrets = request.wantsSecrets
    }
}

extension FindRequest {
    init(_ wire: WireQuery) throws(KeychainError) {
        self.init(try ItemQuery(wire), wantsSecrets: wire.wantsSecrets)
    }
}

extension WireUpdate {
    init(_ request: UpdateRequest, _ secrets: inout [SecretBytes]) {
        self.init()
        query = WireQuery(request.query)
        changes = WireChanges(request.changes, &secrets)
    }
}

extension UpdateRequest {
    init(_ wire: WireUpdate, _ tail: inout WireTail) throws(KeychainError) {
        let query = try ItemQuery(wire.query)
        self.init(query, changes: try ItemChanges(wire.changes, of: query.itemClass, &tail))
    }
}

extension WireChanges {
    init(_ changes: ItemChanges, _ secrets: inout [SecretBytes]) {
        self.init()
        if !changes.attributes.isEmpty { attributes = WireAttributes(changes.attributes) }
        if let group = changes.accessGroup { accessGroup = group }
        if let value = changes.synchronizable { synchronizable = value }
        if let control = changes.accessControl {
            protection = WireProtection(control.protection)
            accessFlags = control.flags.rawValue
            accessExtension = Data(control.extensionBytes)
        }
        if let moment = changes.created { created = moment }
        if let secret = changes.secret { secretSize = secrets.size(adding: secret) }
    }
}

extension ItemChanges {
    init(_ wire: WireChanges, of itemClass: ItemClass, _ tail: inout WireTail) throws(KeychainError) {
        self.init()
        attributes = try AttributeSet(wire.attributes, of: itemClass)
        accessGroup = wire.hasAccessGroup ? wire.accessGroup : nil
        synchronizable = wire.hasSynchronizable ? wire.synchronizable : nil
        accessControl = try .ifAny(
            wire.hasProtection ? wire.protection : nil, flags: wire.accessFlags, wire.accessExtension)
        created = wire.hasCreated ? try Double(wireTime: wire.created) : nil
        secret = try tail.take(ifAny: wire.hasSecretSize ? wire.secretSize : nil)
    }
}

extension WireQuery {
    init(_ query: ItemQuery) {
        self.init()
        itemClass = WireItemClass(query.itemClass)
        if !query.attributes.isEmpty { attributes = WireAttributes(query.attributes) }
        if let group = query.accessGroup { accessGroup = group }
        if let value = query.protection { protection = WireProtection(value) }
        if let moment = query.created { created = moment }
        if let moment = query.modified { modified = moment }
        synchronizable = Synchronizable(query.synchronizable)
        if let reference = query.persistentReference { persistentReference = reference.data }
        if let host = query.hostOrSubdomainOf { hostOrSubdomainOf = host }
        switch query.limit {
        case .one: break
        case .atMost(let count): atMost = Int64(count)
        case .all: all = true
        }
        authenticationUi = AuthenticationUI(query.authenticationUI)
    }
}

extension ItemQuery {
    init(_ wire: WireQuery) throws(KeychainError) {
        self.init(try ItemClass(wire.itemClass))
        if wire.hasAttributes { attributes = try AttributeSet(wire.attributes, of: itemClass) }
        accessGroup = wire.hasAccessGroup ? wire.accessGroup : nil
        protection = wire.hasProtection ? try Protection(wire.protection) : nil
        created = wire.hasCreated ? try Double(wireTime: wire.created) : nil
        modified = wire.hasModified ? try Double(wireTime: wire.modified) : nil
        synchronizable = try Synchronizable(wire.synchronizable)
        persistentReference =
            wire.hasPersistentReference ? try PersistentReference(data: wire.persistentReference) : nil
        hostOrSubdomainOf = wire.hasHostOrSubdomainOf ? wire.hostOrSubdomainOf : nil
        limit = try Limit(wire.limit)
        authenticationUI = try AuthenticationUI(wire.authenticationUi)
    }
}

extension ItemQuery.Limit {
    fileprivate init(_ wire: WireQuery.OneOf_Limit?) throws(KeychainError) {
        switch wire {
        case .all(true): self = .all
        case .atMost(let count):
            guard count >= 0 else { throw KeychainError(.parameter, message: "a search cannot find \(count) items") }
            self = .atMost(Int(count))
        case .all(false), nil: self = .one
        }
    }
}
