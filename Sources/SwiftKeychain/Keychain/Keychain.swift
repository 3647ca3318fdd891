internal import FoundationEssentials
internal import KeychainClient
internal import KeychainModel

/// The passwords, tokens and other values of one service, or of one server, by their keys.
///
/// ```swift
/// let keychain = Keychain(service: "com.example.app")
/// try keychain.set("s3cret", for: "accessToken")
/// let token = try keychain.string(for: "accessToken")  // nil: there is none
/// ```
///
/// A `Keychain` is a value: it says which items are meant and how new ones are protected. Making one opens nothing, and
/// copies may be used by any thread and any task. Every call has a blocking form and a form for tasks, which has this
/// name too and is `await`ed. The views ``blocking`` and ``tasks`` say which is meant.
///
/// A key is the account of a generic password, or of an internet password if the value is for a server. So code that
/// uses `SecItem…` finds these items too.
///
/// **The lock.** An item that is accessible "when unlocked" is not missing while the keychain is locked: the call
/// throws ``KeychainError/Code/interactionNotAllowed``. A program that takes this for a missing token signs its user
/// out at each lock.
///
/// **Limits of the protection.** A value that was read stays with the program: no lock takes it back, and its memory is
/// not erased. `withSecret(for:_:)` and ``Secret`` erase theirs. Other programs of the user can read the items too.
///
/// An item has at most 64 MiB, its value and its attributes together.
public struct Keychain: Sendable {
    enum Scope: Sendable, Hashable {
        case service(String)
        case server(Server)
        /// The service would have the program's name, which cannot be found out for a reason.
        case nameless(String)
    }

    var scope: Scope

    /// The access group of the items. `nil` means the program's first group, and never any other.
    ///
    /// The program's entitlements or ``KeychainConfiguration/accessGroups`` name its groups.
    public var accessGroup: String?

    /// A text in front of each key in the items' accounts. It is empty by default.
    ///
    /// `keys()` and `removeAll()` reach only items whose account begins with it. Two values with different prefixes
    /// share one service without meeting each other's items, as long as neither prefix begins with the other.
    public var keyPrefix = ""

    /// The protection of items that are written.
    ///
    /// `nil` makes new items accessible "when unlocked", and lets items that are there keep their protection.
    public var accessControl: AccessControl?

    /// Whether the items are those that are marked as synchronizable. The mark sends nothing to other devices.
    ///
    /// Items with the mark are other items than those without it. An item with the mark cannot ask a person for
    /// anything.
    public var isSynchronizable = false

    /// The form in which values are stored that are neither text nor bytes. It is JSON by default.
    public var coding = Coding.json

    /// The object that keeps a person's answers, so that one question serves several calls.
    ///
    /// It is a ``Context``, or an `LAContext` of the module `KeychainLocalAuthentication`. `nil` makes each call forget
    /// the answers at its end. An object of any other type makes calls throw `.parameter`.
    public var context: (any KeychainContext)?

    /// The reason for a question, as the person reads it, such as "to pay the bill".
    ///
    /// `nil` takes the reason of the context, or gives none.
    public var reason: String?

    /// Whether a person may be asked.
    ///
    /// If not, a call that would ask throws ``KeychainError/Code/interactionNotAllowed``. Answers that the ``context``
    /// has are used in any case.
    public var mayAsk = true

    /// `nil` means the connection of the current task or of the process, as it is at the time of a call.
    var ownConnection: Connection?
    /// Ends the questions of one call.
    var cancellation: Cancellation?
    /// Whether the closure that decides about the items makes the calls (``Transaction``).
    var isOfClosure = false

    /// Makes a value for the generic passwords of this program: the service has the program's name.
    ///
    /// ```swift
    /// try Keychain().set("s3cret", for: "token")
    /// ```
    ///
    /// The name is the application identifier of the program's entitlements, else the identifier of its bundle, which
    /// most programs on Linux lack, else the name of its executable. A program that is renamed does not find its items,
    /// so a program names the service if its items are to last. If the entitlements cannot be read, each call throws
    /// `.notAvailable`.
    ///
    /// - Parameters:
    ///   - accessGroup: The access group. `nil` means the program's first one.
    ///   - accessibility: The time at which new items can be used. `nil` means "when unlocked", and lets items that are
    ///     there keep theirs.
    public init(accessGroup: String? = nil, accessibility: Accessibility? = nil) {
        let scope: Scope =
            switch CallerIdentity.processName {
            case .success(let name): .service(name)
            case .failure(let error): .nameless(error.message)
            }
        self.init(scope, accessGroup, accessibility)
    }

    /// Makes a value for the generic passwords of a service.
    ///
    /// - Parameters:
    ///   - service: Any text; by convention the program's name, such as `com.example.app`.
    ///   - accessGroup: The access group. `nil` means the program's first one.
    ///   - accessibility: The time at which new items can be used. `nil` means "when unlocked", and lets items that are
    ///     there keep theirs.
    public init(service: String, accessGroup: String? = nil, accessibility: Accessibility? = nil) {
        self.init(.service(service), accessGroup, accessibility)
    }

    /// Makes a value for the internet passwords of a server. Its keys are the accounts on that server.
    ///
    /// ```swift
    /// let mail = Keychain(server: .init("mail.example.com", protocol: .imap))
    /// try mail.set("hunter2", for: "alice")
    /// ```
    ///
    /// - Parameters:
    ///   - server: The server. All its properties take part: another port is another server.
    ///   - accessGroup: The access group. `nil` means the program's first one.
    ///   - accessibility: The time at which new items can be used. `nil` means "when unlocked", and lets items that are
    ///     there keep theirs.
    public init(server: Server, accessGroup: String? = nil, accessibility: Accessibility? = nil) {
        self.init(.server(server), accessGroup, accessibility)
    }

    private init(_ scope: Scope, _ accessGroup: String?, _ accessibility: Accessibility?) {
        self.scope = scope
        self.accessGroup = accessGroup
        accessControl = accessibility.map { AccessControl($0) }
    }

    /// A copy of this value for another keychain than the process's own.
    ///
    /// - Parameter configuration: The other keychain. Each value that is made here opens the store on its own, so make
    ///   one and copy it.
    public func configured(_ configuration: KeychainConfiguration) -> Keychain {
        with { $0.ownConnection = Connection(configuration) }
    }

    package func connected(_ connection: Connection) -> Keychain { with { $0.ownConnection = connection } }

    /// A copy of this value for another access group.
    ///
    /// - Parameter accessGroup: The access group. `nil` means the program's first one. A group that the program does
    ///   not hold makes calls throw ``KeychainError/Code/missingEntitlement``.
    public func inGroup(_ accessGroup: String?) -> Keychain { with { $0.accessGroup = accessGroup } }

    /// A copy of this value with another protection for items that are written.
    ///
    /// ```swift
    /// let bank = Keychain(service: "com.example.bank").protected(by: .init(.whenUnlocked, consent: .passcode))
    /// ```
    ///
    /// - Parameter accessControl: The protection. `nil` has the meaning that it has for ``accessControl``.
    public func protected(by accessControl: AccessControl?) -> Keychain { with { $0.accessControl = accessControl } }

    /// A copy of this value whose keys have a text in front: see ``keyPrefix``.
    public func prefixed(by keyPrefix: String) -> Keychain { with { $0.keyPrefix = keyPrefix } }

    /// A copy of this value for items with or without the mark: see ``isSynchronizable``.
    public func synchronizable(_ isSynchronizable: Bool = true) -> Keychain {
        with { $0.isSynchronizable = isSynchronizable }
    }

    /// A copy of this value that stores values in another form: see ``coding``.
    public func coded(by coding: Coding) -> Keychain { with { $0.coding = coding } }

    /// A copy of this value that uses a person's answers to other calls: see ``context``.
    public func using(_ context: (any KeychainContext)?) -> Keychain { with { $0.context = context } }

    /// A copy of this value that gives a reason when it asks: see ``reason``.
    ///
    /// ```swift
    /// let pin = try bank.asking("to pay the bill").string(for: "pin")
    /// ```
    public func asking(_ reason: String?) -> Keychain { with { $0.reason = reason } }

    /// A copy of this value whose calls ask no person: see ``mayAsk``.
    public func withoutAsking() -> Keychain { with { $0.mayAsk = false } }

    func with(_ change: (inout Keychain) -> Void) -> Keychain {
        var other = self
        change(&other)
        return other
    }
}

extension Keychain: Equatable {
    /// Whether two values stand for the same items and treat them alike.
    ///
    /// Contexts, configurations and codings of the program's own are the same if one value is a copy of the other.
    public static func == (one: Keychain, other: Keychain) -> Bool {
        one.scope == other.scope && one.accessGroup == other.accessGroup && one.keyPrefix == other.keyPrefix
            && one.accessControl == other.accessControl && one.isSynchronizable == other.isSynchronizable
            && one.coding == other.coding && one.context === other.context && one.reason == other.reason
            && one.mayAsk == other.mayAsk && one.ownConnection === other.ownConnection
    }
}

// MARK: - Requests

extension Keychain {
    var itemClass: ItemClass {
        switch scope {
        case .service, .nameless: .genericPassword
        case .server: .internetPassword
        }
    }

    /// The attributes that all of its items have, after the account.
    func attributes(account: String?) -> AttributeSet {
        var attributes = AttributeSet()
        if let account { attributes.append(.account, .text(account)) }
        switch scope {
        case .service(let service): attributes.append(.service, .text(service))
        case .server(let server): server.add(to: &attributes)
        case .nameless: break  // No request is made: group() throws.
        }
        return attributes
    }

    /// The group that nil stands for is found out with each call: the process's configuration may have changed.
    ///
    /// - Throws: `.notAvailable` if the entitlements cannot be read.
    func group() throws(KeychainError) -> String? {
        if case .nameless(let reason) = scope { throw KeychainError(.notAvailable, message: reason) }
        if let accessGroup { return accessGroup }
        return try connection.groups().first
    }

    /// - Parameter key: nil: all.
    func query(for key: String?) throws(KeychainError) -> ItemQuery {
        var query = ItemQuery(itemClass)
        query.attributes = attributes(account: key.map { keyPrefix + $0 })
        query.accessGroup = try group()
        query.synchronizable = isSynchronizable ? .yes : .no
        if key == nil { query.limit = .all }
        return query
    }

    func addRequest(_ secret: SecretBytes, for key: String, _ remarks: Remarks) throws(KeychainError) -> AddRequest {
        var request = AddRequest(itemClass)
        request.attributes = attributes(account: keyPrefix + key)
        remarks.add(to: &request.attributes)
        request.accessGroup = try group()
        request.synchronizable = isSynchronizable
        request.accessControl = accessControl?.model
        request.expires = try remarks.expiry()
        request.secret = secret
        return request
    }

    var connection: Connection { ownConnection ?? .current }

    func ask<Answer>(_ question: Question<Answer>) throws(KeychainError) -> Answer {
        try connection.ask(question, try asking())
    }

    private func asking() throws(KeychainError) -> Asking {
        Asking(
            in: try AuthenticationSession.of(context), reason: reason, mayAsk: mayAsk, cancellation: cancellation,
            isOfClosure: isOfClosure)
    }

    /// The items that a query finds; none is no failure.
    func items(_ query: ItemQuery, wantsSecrets: Bool) throws(KeychainError) -> [Item] {
        try connection.items(query, wantsSecrets: wantsSecrets, try asking())
    }

    func item(for key: String, wantsSecrets: Bool = true) throws(KeychainError) -> Item? {
        try items(try query(for: key), wantsSecrets: wantsSecrets).first
    }

    /// All of its items, by their keys.
    func allItems(wantsSecrets: Bool = false) throws(KeychainError) -> [(key: String, item: Item)] {
        try items(try query(for: nil), wantsSecrets: wantsSecrets).compactMap { item in
            key(of: item).map { ($0, item) }
        }
    }

    /// The items, and all that the same search finds: a change of any of it is noticed.
    func look() throws(KeychainError) -> (items: [(key: String, item: Item)], seen: SeenItems) {
        let query = try query(for: nil)
        let all = try items(query, wantsSecrets: false)
        let keyed = all.compactMap { item in key(of: item).map { (key: $0, item: item) } }
        return (keyed, SeenItems(query, versions: all.map { ItemVersion($0) }, hasSecrets: false))
    }

    /// nil: the item has no key of this keychain.
    func key(of item: Item) -> String? {
        let account: String
        switch item.attributes[.account] {
        case .text(let text): account = text
        case .data(let data):
            guard let text = String(validating: data, as: UTF8.self) else { return nil }
            account = text
        default: return nil
        }
        return account.utf8.starts(with: keyPrefix.utf8) ? String(account.utf8.dropFirst(keyPrefix.utf8.count)) : nil
    }

    /// - Returns: false if something is not as it was seen.
    /// - Throws: `.parameter` for more than a daemon takes.
    func commit(_ request: TransactionRequest) throws(KeychainError) -> Bool {
        guard request.isWithinLimits else {
            throw KeychainError(
                .parameter,
                message: "a transaction can change \(TransactionRequest.mostSteps) items at most, and look at as many: "
                    + "make several")
        }
        return try ask(.commit(request))
    }

    func delete(_ query: ItemQuery) throws(KeychainError) -> Int {
        do throws(KeychainError) {
            return try ask(.delete(query))
        } catch  where error.code == .itemNotFound {
            return 0
        }
    }
}

extension Item {
    /// The bytes that are its value. An item may have no secret: callers see an empty one.
    var value: SecretBytes { secret ?? .empty }
}

extension SecretBytes {
    static var empty: SecretBytes { SecretBytes(Data()) }

    /// - Throws: `.decode` if the bytes are not UTF-8.
    func text(for key: String) throws(KeychainError) -> String {
        guard let text = withUnsafeBytes({ String(validating: $0, as: UTF8.self) }) else {
            throw .notReadable(key, as: String.self)
        }
        return text
    }
}
