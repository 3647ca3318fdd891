internal import FoundationEssentials
internal import KeychainClient
public import KeychainModel

/// The items of all five classes with all their attributes, for code that needs more than ``Keychain``.
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
/// Every call has a blocking form and a form for tasks, which has this name too and is `await`ed. The value may be used
/// by any thread and any task. It finds the items that `SecItem…` and ``Keychain`` have stored, in all groups that the
/// program holds.
public struct KeychainItems: Sendable {
    private var keychain = Keychain(service: "")

    /// The object that keeps a person's answers for several calls: see ``Keychain/context``.
    public var context: (any KeychainContext)? {
        get { keychain.context }
        set { keychain.context = newValue }
    }
    /// The reason for a question, as the person reads it: see ``Keychain/reason``.
    public var reason: String? {
        get { keychain.reason }
        set { keychain.reason = newValue }
    }
    /// Whether a person may be asked: see ``Keychain/mayAsk``.
    public var mayAsk: Bool {
        get { keychain.mayAsk }
        set { keychain.mayAsk = newValue }
    }

    /// Makes a value for the keychain that this process uses. It opens nothing.
    public init() {}

    /// Makes a value for the keychain that another value uses, such as one of another configuration or of a test.
    ///
    /// - Parameter keychain: The other value. Its context, reason and ``Keychain/mayAsk`` are taken too; its service
    ///   and group are not.
    public init(like keychain: Keychain) { self.keychain = keychain }

    // MARK: Calls that block

    /// Stores a new item.
    ///
    /// - Parameters:
    ///   - item: The item. Its ``KeychainItem/created``, ``KeychainItem/modified`` and ``KeychainItem/expires`` are
    ///     ignored.
    ///   - expires: The moment from which the item is gone. By default there is none.
    /// - Returns: The item as it is stored, with its dates, its group and its persistent reference.
    /// - Throws: ``KeychainError/Code/duplicateItem`` if the attributes that tell items apart are those of another
    ///   item; ``KeychainError/Code/parameter`` for an identity, which is added as a certificate and a key, and for a
    ///   moment of expiry that has passed; ``KeychainError/Code/interactionNotAllowed`` while the keychain is locked;
    ///   ``KeychainError/Code/missingEntitlement`` for a group that the program does not hold; `.dataTooLarge` beyond
    ///   64 MiB. No item was added then.
    @discardableResult
    public func add<Kind>(
        _ item: KeychainItem<Kind>, expires: Keychain.Expiration = .never
    ) throws(KeychainError) -> KeychainItem<Kind> {
        guard Kind.itemClass != .identity else {
            throw KeychainError(.parameter, message: "an identity is added as a certificate and a key, one by one")
        }
        var request = AddRequest(Kind.itemClass.model)
        request.attributes = item.attributes
        request.accessGroup = item.accessGroup
        request.synchronizable = item.isSynchronizable
        request.accessControl = item.accessControl?.model
        request.expires = try expires.model()
        request.secret = item.secretBytes
        return KeychainItem(try keychain.ask(.add(request)))
    }

    /// Finds the items whose attributes are those that the conditions set.
    ///
    /// ```swift
    /// let keys = try items.find(Keychain.Key.self, wantsSecrets: true) { $0.keyClass = .privateKey }
    /// ```
    ///
    /// The call asks a person once if one of the items wants that.
    ///
    /// - Parameters:
    ///   - type: The class of the items, such as `Keychain.Key.self`.
    ///   - wantsSecrets: Whether the secrets are read too. Without them the call is quicker.
    ///   - conditions: Sets attributes of the query. Without conditions the call finds all items of the class that are
    ///     not marked as synchronizable.
    /// - Returns: The items. The array is empty if there are none, which is no error.
    /// - Throws: ``KeychainError/Code/interactionNotAllowed`` if one of the items is locked: the call gives all items
    ///   or none. `.dataTooLarge` if a daemon's answer would be too large: set ``KeychainQuery/limit``.
    public func find<Kind>(
        _ type: KeychainItem<Kind>.Type = KeychainItem<Kind>.self, wantsSecrets: Bool = false,
        where conditions: (inout KeychainQuery<Kind>) -> Void = { _ in }
    ) throws(KeychainError) -> [KeychainItem<Kind>] {
        try find(Self.query(conditions), wantsSecrets: wantsSecrets)
    }

    /// Finds the items that a query means.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - wantsSecrets: Whether the secrets are read too.
    /// - Returns: The items. The array is empty if there are none, which is no error.
    /// - Throws: The errors of the other blocking `find`; ``KeychainError/Code/parameter`` for a query with a secret.
    public func find<Kind>(
        _ query: KeychainQuery<Kind>, wantsSecrets: Bool = false
    ) throws(KeychainError) -> [KeychainItem<Kind>] {
        try keychain.items(try query.model, wantsSecrets: wantsSecrets).map { KeychainItem($0) }
    }

    /// Changes all items that the conditions mean, or none of them.
    ///
    /// ```swift
    /// try items.update(Keychain.GenericPassword.self) {
    ///     $0.service = "com.example.app"
    /// } _: {
    ///     $0.comment = "imported"
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - type: The class of the items.
    ///   - conditions: Sets the attributes that the items have now. Without conditions all items of the class are
    ///     changed that are not marked as synchronizable.
    ///   - expires: The moment from which the items are gone. `nil` leaves the present one, and `.never` takes it away.
    ///   - change: Sets the attributes that change. An attribute that stays `nil` is not changed, and none can be
    ///     removed.
    /// - Throws: ``KeychainError/Code/itemNotFound`` if there are no such items; ``KeychainError/Code/duplicateItem``
    ///   if an item would become equal to another one; ``KeychainError/Code/interactionNotAllowed`` if one of them is
    ///   locked. No item was changed then.
    public func update<Kind>(
        _ type: KeychainItem<Kind>.Type = KeychainItem<Kind>.self,
        where conditions: (inout KeychainQuery<Kind>) -> Void, expires: Keychain.Expiration? = nil,
        _ change: (inout KeychainItem<Kind>) -> Void
    ) throws(KeychainError) {
        try update(Self.query(conditions), expires: expires, change)
    }

    /// Changes all items that a query means, or none of them. ``KeychainQuery/limit`` has no effect.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - expires: The moment from which the items are gone. `nil` leaves the present one, and `.never` takes it away.
    ///   - change: Sets the attributes that change. An attribute that stays `nil` is not changed.
    /// - Throws: The errors of the other blocking `update`.
    public func update<Kind>(
        _ query: KeychainQuery<Kind>, expires: Keychain.Expiration? = nil, _ change: (inout KeychainItem<Kind>) -> Void
    ) throws(KeychainError) {
        var changed = KeychainItem<Kind>()
        change(&changed)
        var changes = ItemChanges()
        changes.attributes = changed.attributes
        changes.accessGroup = changed.accessGroup
        changes.accessControl = changed.accessControl?.model
        changes.created = changed.created?.timeIntervalSinceReferenceDate
        changes.expires = try expires.map { expires throws(KeychainError) in try expires.model() }
        changes.secret = changed.secretBytes
        if changed.isSynchronizable { changes.synchronizable = true }
        try keychain.ask(.update(UpdateRequest(try query.model, changes: changes)))
    }

    /// Removes all items that the conditions mean, or none of them.
    ///
    /// ```swift
    /// let count = try items.remove(Keychain.InternetPassword.self) { $0.server = "old.example.com" }
    /// ```
    ///
    /// A locked item is removed too, as long as the conditions name only attributes in the index: those that tell
    /// passwords apart, labels, comments and hashes are.
    ///
    /// - Parameters:
    ///   - type: The class of the items.
    ///   - conditions: Sets the attributes that the items have. They must set one at least.
    /// - Returns: The number of items that were removed.
    /// - Throws: ``KeychainError/Code/parameter`` if the conditions set nothing: `remove(_:)` with a query removes all
    ///   items of a class. ``KeychainError/Code/interactionNotAllowed`` for a locked item that the index does not
    ///   decide about.
    @discardableResult
    public func remove<Kind>(
        _ type: KeychainItem<Kind>.Type = KeychainItem<Kind>.self, where conditions: (inout KeychainQuery<Kind>) -> Void
    ) throws(KeychainError) -> Int {
        try remove(try Self.query(naming: conditions))
    }

    /// Removes all items that a query means, or none of them. A new query means every item of the class in the
    /// program's groups that is not marked as synchronizable: a wipe also sets ``KeychainQuery/isSynchronizable`` to `nil`.
    ///
    /// - Parameter query: The query. Its ``KeychainQuery/limit`` has no effect.
    /// - Returns: The number of items that were removed.
    /// - Throws: The errors of the other blocking `remove`, except `.parameter`.
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

    /// Stores a new item without blocking the thread of the task.
    ///
    /// A write that has begun is finished even if the task is cancelled.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - expires: The moment from which the item is gone. By default there is none.
    /// - Returns: The item as it is stored, with its dates, its group and its persistent reference.
    /// - Throws: The errors of the blocking call, and `.taskCancelled`. No item was added then.
    @discardableResult
    public func add<Kind>(
        _ item: KeychainItem<Kind>, expires: Keychain.Expiration = .never
    ) async throws(KeychainError) -> KeychainItem<Kind> {
        try await inTask { items throws(KeychainError) in try items.add(item, expires: expires) }
    }

    /// Finds the items that the conditions mean, without blocking the thread of the task.
    ///
    /// Cancelling the task takes back a question that a person is being asked, and the call throws `.taskCancelled`.
    /// `conditions` runs on the task's own thread.
    ///
    /// - Parameters:
    ///   - type: The class of the items.
    ///   - wantsSecrets: Whether the secrets are read too.
    ///   - conditions: Sets attributes of the query. Without conditions the call finds all items of the class that are
    ///     not marked as synchronizable.
    /// - Returns: The items. The array is empty if there are none, which is no error.
    /// - Throws: The errors of the blocking call, and `.taskCancelled`.
    public func find<Kind>(
        _ type: KeychainItem<Kind>.Type = KeychainItem<Kind>.self, wantsSecrets: Bool = false,
        where conditions: (inout KeychainQuery<Kind>) -> Void = { _ in }
    ) async throws(KeychainError) -> [KeychainItem<Kind>] {
        try await find(Self.query(conditions), wantsSecrets: wantsSecrets)
    }

    /// Finds the items that a query means, without blocking the thread of the task.
    ///
    /// Cancelling the task takes back a question that a person is being asked, and the call throws `.taskCancelled`.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - wantsSecrets: Whether the secrets are read too.
    /// - Returns: The items. The array is empty if there are none, which is no error.
    /// - Throws: The errors of the blocking call, and `.taskCancelled`.
    public func find<Kind>(
        _ query: KeychainQuery<Kind>, wantsSecrets: Bool = false
    ) async throws(KeychainError) -> [KeychainItem<Kind>] {
        try await inTask { items throws(KeychainError) in try items.find(query, wantsSecrets: wantsSecrets) }
    }

    /// Changes all items that the conditions mean, or none, without blocking the thread of the task.
    ///
    /// A write that has begun is finished even if the task is cancelled. `change` runs on a thread that may block.
    ///
    /// - Parameters:
    ///   - type: The class of the items.
    ///   - conditions: Sets the attributes that the items have now.
    ///   - expires: The moment from which the items are gone. `nil` leaves the present one, and `.never` takes it away.
    ///   - change: Sets the attributes that change. An attribute that stays `nil` is not changed.
    /// - Throws: The errors of the blocking call, and `.taskCancelled`. No item was changed then.
    public func update<Kind>(
        _ type: KeychainItem<Kind>.Type = KeychainItem<Kind>.self,
        where conditions: (inout KeychainQuery<Kind>) -> Void, expires: Keychain.Expiration? = nil,
        _ change: @escaping @Sendable (inout KeychainItem<Kind>) -> Void
    ) async throws(KeychainError) {
        try await update(Self.query(conditions), expires: expires, change)
    }

    /// Changes all items that a query means, or none, without blocking the thread of the task.
    ///
    /// A write that has begun is finished even if the task is cancelled. `change` runs on a thread that may block.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - expires: The moment from which the items are gone. `nil` leaves the present one, and `.never` takes it away.
    ///   - change: Sets the attributes that change. An attribute that stays `nil` is not changed.
    /// - Throws: The errors of the blocking call, and `.taskCancelled`. No item was changed then.
    public func update<Kind>(
        _ query: KeychainQuery<Kind>, expires: Keychain.Expiration? = nil,
        _ change: @escaping @Sendable (inout KeychainItem<Kind>) -> Void
    ) async throws(KeychainError) {
        try await inTask { items throws(KeychainError) in try items.update(query, expires: expires, change) }
    }

    /// Removes all items that the conditions mean, or none, without blocking the thread of the task.
    ///
    /// A removal that has begun is finished even if the task is cancelled.
    ///
    /// - Parameters:
    ///   - type: The class of the items.
    ///   - conditions: Sets the attributes that the items have. They must set one at least.
    /// - Returns: The number of items that were removed.
    /// - Throws: The errors of the blocking call, and `.taskCancelled`. No item was removed then.
    @discardableResult
    public func remove<Kind>(
        _ type: KeychainItem<Kind>.Type = KeychainItem<Kind>.self, where conditions: (inout KeychainQuery<Kind>) -> Void
    ) async throws(KeychainError) -> Int {
        try await remove(try Self.query(naming: conditions))
    }

    /// Removes all items that a query means, or none, without blocking the thread of the task.
    ///
    /// A removal that has begun is finished even if the task is cancelled.
    ///
    /// - Parameter query: The query. A new one means every item of the class in the program's groups that is not marked
    ///   as synchronizable.
    /// - Returns: The number of items that were removed.
    /// - Throws: The errors of the blocking call, and `.taskCancelled`. No item was removed then.
    @discardableResult
    public func remove<Kind>(_ query: KeychainQuery<Kind>) async throws(KeychainError) -> Int {
        try await inTask { items throws(KeychainError) in try items.remove(query) }
    }
}
