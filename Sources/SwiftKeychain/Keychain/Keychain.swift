internal import Foundation
internal import KeychainModel

/// The passwords, tokens and other values of one service, or of one server, by their keys.
///
/// ```swift
/// let keychain = Keychain(service: "com.example.app")
/// try keychain.set("s3cret", for: "accessToken")
/// let token = try keychain.string(for: "accessToken")  // nil: there is none
/// ```
///
/// It is a value that says which items are meant and how new ones are protected; making one opens nothing. Copies may be used
/// by any thread and any task. Every call has a blocking form and one for tasks, which has the same name and is `await`ed.
///
/// A key is the account of a generic password, or, for a server, of an internet password, so that code which uses
/// `SecItem…` finds the same items.
///
/// While the keychain is locked, items that are accessible "when unlocked" are not "not found": the call fails with
/// ``KeychainError/Code/interactionNotAllowed``.
///
/// A value that was read is the program's own: no lock takes it back, and its memory is not erased. For that there are
/// `withSecret(for:_:)` and ``Secret``.
public struct Keychain: Sendable {
    enum Scope: Sendable, Hashable {
        case service(String)
        case server(Server)
    }

    let scope: Scope

    /// The access group of its items. nil: the first one of the program, which its entitlements or
    /// ``KeychainConfiguration/accessGroups`` name; never any other.
    public var accessGroup: String?

    /// What precedes each key in the items' accounts: `keys()` and `removeAll()` know only accounts that begin with it.
    public var keyPrefix = ""

    /// How items are protected that are written. nil: new ones are accessible "when unlocked", and ones that are there stay
    /// as they are.
    public var accessControl: AccessControl?

    /// Whether its items are those that are marked as synchronizable. They are other items than those that are not, and the
    /// mark has no effect but that.
    public var isSynchronizable = false

    /// How values are stored that are neither `String` nor `Data`.
    public var coding = Coding.json

    /// Where what a person shows is kept, so that one question serves several calls: a ``Context``, or an `LAContext` of the
    /// module `KeychainLocalAuthentication`. nil: it is forgotten after each call.
    public var context: (any KeychainContext)?

    /// Why the program asks, as the person is told. nil: what the context says, or nothing.
    public var reason: String?

    /// Whether a person may be asked. If not, a call that would ask ends with
    /// ``KeychainError/Code/interactionNotAllowed``.
    public var mayAsk = true

    /// nil: that of the current task or of the process, whichever it is at the time of a call.
    var ownConnection: Connection?
    /// Ends the questions of one call.
    var cancellation: Cancellation?

    /// The generic passwords of a service.
    ///
    /// - Parameters:
    ///   - service: Any text; by convention the program's name, as `com.example.app`.
    ///   - accessGroup: nil: the first one of the program.
    ///   - accessibility: nil: "when unlocked" for new items; those that are there keep theirs.
    public init(service: String, accessGroup: String? = nil, accessibility: Accessibility? = nil) {
        self.init(.service(service), accessGroup, accessibility)
    }

    /// The internet passwords of a server.
    public init(server: Server, accessGroup: String? = nil, accessibility: Accessibility? = nil) {
        self.init(.server(server), accessGroup, accessibility)
    }

    private init(_ scope: Scope, _ accessGroup: String?, _ accessibility: Accessibility?) {
        self.scope = scope
        self.accessGroup = accessGroup
        accessControl = accessibility.map { AccessControl($0) }
    }

    /// The same in another keychain than the process's own.
    ///
    /// - Parameter configuration: Make one value for it and copy that: each that is made here opens the store anew.
    public func configured(_ configuration: KeychainConfiguration) -> Keychain {
        with { $0.ownConnection = Connection(configuration) }
    }

    package func connected(_ connection: Connection) -> Keychain { with { $0.ownConnection = connection } }

    /// The same in another access group.
    public func inGroup(_ accessGroup: String?) -> Keychain { with { $0.accessGroup = accessGroup } }

    /// The same with other protection for what is written.
    public func protected(by accessControl: AccessControl?) -> Keychain { with { $0.accessControl = accessControl } }

    func with(_ change: (inout Keychain) -> Void) -> Keychain {
        var other = self
        change(&other)
        return other
    }
}

// MARK: - Requests

extension Keychain {
    var itemClass: ItemClass {
        switch scope {
        case .service: .genericPassword
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
        }
        return attributes
    }

    /// The group that nil stands for is found out with each call: the process's configuration may have changed.
    func group() throws(KeychainError) -> String? {
        if let accessGroup { return accessGroup }
        return try connection.identity().caller.groups.first
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

    func addRequest(_ secret: SecretBytes, for key: String) throws(KeychainError) -> AddRequest {
        var request = AddRequest(itemClass)
        request.attributes = attributes(account: keyPrefix + key)
        request.accessGroup = try group()
        request.synchronizable = isSynchronizable
        request.accessControl = accessControl?.model
        request.secret = secret
        return request
    }

    var connection: Connection { ownConnection ?? .current }

    func perform(_ request: Request) throws(KeychainError) -> Reply {
        try connection.performAsking(
            request, in: try KeychainContexts.session(of: context), reason: reason, mayAsk: mayAsk,
            cancellation: cancellation)
    }

    /// The items that a query finds; none is no failure.
    func items(_ query: ItemQuery, wantsSecrets: Bool) throws(KeychainError) -> [Item] {
        do throws(KeychainError) {
            guard case .found(let items) = try perform(.find(FindRequest(query, wantsSecrets: wantsSecrets))) else {
                throw .otherAnswer
            }
            return items
        } catch  where error.code == .itemNotFound {
            return []
        }
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

    /// nil: it is none of its keys.
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
    func commit(_ request: TransactionRequest) throws(KeychainError) -> Bool {
        guard case .committed(let isCommitted) = try perform(.transaction(request)) else { throw .otherAnswer }
        return isCommitted
    }

    func delete(_ query: ItemQuery) throws(KeychainError) -> Int {
        do throws(KeychainError) {
            guard case .deleted(let count) = try perform(.delete(query)) else { throw .otherAnswer }
            return count
        } catch  where error.code == .itemNotFound {
            return 0
        }
    }
}

extension Item {
    /// The bytes that are its value. An item may be without: to callers that is an empty one.
    var value: SecretBytes { secret ?? .empty }
}

extension SecretBytes {
    static var empty: SecretBytes { SecretBytes(Data()) }

    /// - Throws: `.decode` if it is none.
    func text(for key: String) throws(KeychainError) -> String {
        guard let text = withUnsafeBytes({ String(validating: $0, as: UTF8.self) }) else {
            throw .notReadable(key, as: String.self)
        }
        return text
    }
}

extension KeychainError {
    static var otherAnswer: KeychainError {
        KeychainError(.internalFailure, message: "the keychain answered something else than was asked")
    }

    /// After so many attempts somebody else has changed the same items each time.
    static var changedAllTheTime: KeychainError {
        KeychainError(.notAvailable, message: "other programs change the same items all the time: try again later")
    }
}
