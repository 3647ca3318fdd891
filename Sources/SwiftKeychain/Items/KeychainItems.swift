internal import Foundation
public import KeychainModel

/// Items of all classes with all their attributes, where the keys and values of ``Keychain`` are not enough.
///
/// ```swift
/// let items = KeychainItems()
/// var password = Keychain.InternetPassword()
/// password.server = "example.com"
/// password.account = "alice"
/// password.secret = Data("s3cret".utf8)
/// try items.add(password)
/// let found = try items.find(Keychain.InternetPassword.self) { $0.server = "example.com" }
/// ```
///
/// Every call has a blocking form and one for tasks, which has the same name and is `await`ed.
public struct KeychainItems: Sendable {
    private var keychain = Keychain(service: "")

    /// As ``Keychain/context``.
    public var context: (any KeychainContext)? {
        get { keychain.context }
        set { keychain.context = newValue }
    }
    /// As ``Keychain/reason``.
    public var reason: String? {
        get { keychain.reason }
        set { keychain.reason = newValue }
    }
    /// As ``Keychain/mayAsk``.
    public var mayAsk: Bool {
        get { keychain.mayAsk }
        set { keychain.mayAsk = newValue }
    }

    /// In the keychain that this process uses.
    public init() {}

    /// In the keychain of another configuration, or of a test, with its context, reason and way to ask.
    public init(like keychain: Keychain) { self.keychain = keychain }

    // MARK: Calls that block

    /// Stores an item that is not there.
    ///
    /// - Returns: it as it is stored.
    /// - Throws: ``KeychainError/Code/duplicateItem`` if there is one with the same unique attributes;
    ///   ``KeychainError/Code/parameter`` for an identity, which is added as a certificate and a key.
    @discardableResult
    public func add<Kind>(_ item: KeychainItem<Kind>) throws(KeychainError) -> KeychainItem<Kind> {
        guard Kind.itemClass != .identity else {
            throw KeychainError(.parameter, message: "an identity is added as a certificate and a key, one by one")
        }
        var request = AddRequest(Kind.itemClass.model)
        request.attributes = item.attributes
        request.accessGroup = item.accessGroup
        request.synchronizable = item.isSynchronizable
        request.accessControl = item.accessControl?.model
        request.secret = item.secretBytes
        guard case .added(let stored) = try keychain.perform(.add(request)) else { throw .otherAnswer }
        return KeychainItem(stored)
    }

    /// The items that are meant; none is no failure.
    ///
    /// - Parameters:
    ///   - type: Their class.
    ///   - wantsSecrets: Whether their secrets are read too.
    ///   - conditions: Sets what their attributes are to be. Nothing set: all of the class.
    /// - Throws: ``KeychainError/Code/interactionNotAllowed`` if one of them is locked.
    public func find<Kind>(
        _ type: KeychainItem<Kind>.Type = KeychainItem<Kind>.self, wantsSecrets: Bool = false,
        where conditions: (inout KeychainQuery<Kind>) -> Void = { _ in }
    ) throws(KeychainError) -> [KeychainItem<Kind>] {
        try find(Self.query(conditions), wantsSecrets: wantsSecrets)
    }

    /// As `find(_:wantsSecrets:where:)`, for a query that is there already.
    public func find<Kind>(
        _ query: KeychainQuery<Kind>, wantsSecrets: Bool = false
    ) throws(KeychainError) -> [KeychainItem<Kind>] {
        try keychain.items(try query.model, wantsSecrets: wantsSecrets).map { KeychainItem($0) }
    }

    /// Changes all items that are meant, or none of them.
    ///
    /// - Parameters:
    ///   - type: Their class.
    ///   - conditions: Sets what their attributes are to be now.
    ///   - change: Sets what is to be changed. What is left nil stays; an attribute cannot be taken away again.
    /// - Throws: ``KeychainError/Code/itemNotFound``; ``KeychainError/Code/duplicateItem`` if one would become equal to
    ///   another.
    public func update<Kind>(
        _ type: KeychainItem<Kind>.Type = KeychainItem<Kind>.self,
        where conditions: (inout KeychainQuery<Kind>) -> Void, _ change: (inout KeychainItem<Kind>) -> Void
    ) throws(KeychainError) {
        try update(Self.query(conditions), change)
    }

    /// The same, for a query that is there already.
    public func update<Kind>(
        _ query: KeychainQuery<Kind>, _ change: (inout KeychainItem<Kind>) -> Void
    ) throws(KeychainError) {
        var changed = KeychainItem<Kind>()
        change(&changed)
        var changes = ItemChanges()
        changes.attributes = changed.attributes
        changes.accessGroup = changed.accessGroup
        changes.accessControl = changed.accessControl?.model
        changes.created = changed.created?.timeIntervalSinceReferenceDate
        changes.secret = changed.secretBytes
        if changed.isSynchronizable { changes.synchronizable = true }
        _ = try keychain.perform(.update(UpdateRequest(try query.model, changes: changes)))
    }

    /// Removes all items that are meant.
    ///
    /// - Parameters:
    ///   - type: Their class.
    ///   - conditions: Sets what their attributes are.
    /// - Returns: how many there were.
    /// - Throws: ``KeychainError/Code/parameter`` if the conditions set nothing: all items of a class are removed by
    ///   `remove(_:)`, with a query that is made for that.
    @discardableResult
    public func remove<Kind>(
        _ type: KeychainItem<Kind>.Type = KeychainItem<Kind>.self, where conditions: (inout KeychainQuery<Kind>) -> Void
    ) throws(KeychainError) -> Int {
        try remove(try Self.query(naming: conditions))
    }

    /// The same, for a query that is there already, which may be one for all items of the class.
    @discardableResult
    public func remove<Kind>(_ query: KeychainQuery<Kind>) throws(KeychainError) -> Int {
        try keychain.delete(try query.model)
    }

    private static func query<Kind>(_ conditions: (inout KeychainQuery<Kind>) -> Void) -> KeychainQuery<Kind> {
        var query = KeychainQuery<Kind>()
        conditions(&query)
        return query
    }

    private static func query<Kind>(
        naming conditions: (inout KeychainQuery<Kind>) -> Void
    ) throws(KeychainError) -> KeychainQuery<Kind> {
        let query = query(conditions)
        guard query.namesSomething else {
            throw KeychainError(
                .parameter,
                message: "the conditions name nothing, and would remove every item of the class: make a query")
        }
        return query
    }

    // MARK: Calls for tasks

    private func inTask<R: Sendable>(
        _ body: @escaping @Sendable (KeychainItems) throws(KeychainError) -> R
    ) async throws(KeychainError) -> R {
        try await keychain.inTask { keychain throws(KeychainError) in try body(KeychainItems(like: keychain)) }
    }

    /// As the blocking call.
    @discardableResult
    public func add<Kind>(_ item: KeychainItem<Kind>) async throws(KeychainError) -> KeychainItem<Kind> {
        try await inTask { items throws(KeychainError) in try items.add(item) }
    }

    /// As the blocking call.
    public func find<Kind>(
        _ type: KeychainItem<Kind>.Type = KeychainItem<Kind>.self, wantsSecrets: Bool = false,
        where conditions: (inout KeychainQuery<Kind>) -> Void = { _ in }
    ) async throws(KeychainError) -> [KeychainItem<Kind>] {
        try await find(Self.query(conditions), wantsSecrets: wantsSecrets)
    }

    /// As the blocking call.
    public func find<Kind>(
        _ query: KeychainQuery<Kind>, wantsSecrets: Bool = false
    ) async throws(KeychainError) -> [KeychainItem<Kind>] {
        try await inTask { items throws(KeychainError) in try items.find(query, wantsSecrets: wantsSecrets) }
    }

    /// As the blocking call.
    public func update<Kind>(
        _ type: KeychainItem<Kind>.Type = KeychainItem<Kind>.self,
        where conditions: (inout KeychainQuery<Kind>) -> Void,
        _ change: @escaping @Sendable (inout KeychainItem<Kind>) -> Void
    ) async throws(KeychainError) {
        try await update(Self.query(conditions), change)
    }

    /// As the blocking call.
    public func update<Kind>(
        _ query: KeychainQuery<Kind>, _ change: @escaping @Sendable (inout KeychainItem<Kind>) -> Void
    ) async throws(KeychainError) {
        try await inTask { items throws(KeychainError) in try items.update(query, change) }
    }

    /// As the blocking call.
    @discardableResult
    public func remove<Kind>(
        _ type: KeychainItem<Kind>.Type = KeychainItem<Kind>.self, where conditions: (inout KeychainQuery<Kind>) -> Void
    ) async throws(KeychainError) -> Int {
        try await remove(try Self.query(naming: conditions))
    }

    /// As the blocking call.
    @discardableResult
    public func remove<Kind>(_ query: KeychainQuery<Kind>) async throws(KeychainError) -> Int {
        try await inTask { items throws(KeychainError) in try items.remove(query) }
    }
}
