public import FoundationEssentials
internal import KeychainClient
public import KeychainModel

// The calls for values. Each of them blocks its thread until it is done. Keychain+Tasks.swift has their forms for
// tasks, and Keychain+Views.swift says why they are members of a protocol.

extension KeychainBlockingCalls {
    // MARK: Reading

    /// Reads the text that is stored for a key.
    ///
    /// ```swift
    /// guard let token = try keychain.string(for: "token") else { return signIn() }
    /// ```
    ///
    /// The call asks a person if the item's access control wants that, and blocks its thread for as long as the person
    /// takes.
    ///
    /// - Parameter key: The item's key.
    /// - Returns: `nil` if no item is stored for the key.
    /// - Throws: ``KeychainError/Code/interactionNotAllowed`` while the item is locked, or if a person would have to be
    ///   asked and may not be; ``KeychainError/Code/userCancelled`` if the person declines;
    ///   ``KeychainError/Code/authenticationFailed`` for a wrong passcode or finger; ``KeychainError/Code/decode`` if
    ///   the bytes are not UTF-8; ``KeychainError/Code/missingEntitlement`` for a group that the program does not hold;
    ///   ``KeychainError/Code/notAvailable`` if the keychain cannot be opened.
    public func string(for key: String) throws(KeychainError) -> String? {
        try keychain.item(for: key)?.value.text(for: key)
    }

    /// Reads the bytes that are stored for a key, whichever type they were stored as.
    ///
    /// - Parameter key: The item's key.
    /// - Returns: `nil` if no item is stored for the key. The bytes are ordinary memory and are not erased.
    /// - Throws: The errors of `string(for:)`. Bytes that are not UTF-8 are no error here.
    public func data(for key: String) throws(KeychainError) -> Data? {
        try keychain.item(for: key)?.value.copyData()
    }

    /// Reads the value that is stored for a key.
    ///
    /// ```swift
    /// let login = try keychain.value(Login.self, for: "mail")
    /// ```
    ///
    /// A `String`, a `Data` and a `[UInt8]` are the bytes themselves, even where the type is known only at run time. Any
    /// other type is decoded by ``Keychain/coding``.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - key: The item's key.
    /// - Returns: `nil` if no item is stored for the key.
    /// - Throws: ``KeychainError/Code/decode`` if the bytes are no such value; otherwise the errors of `string(for:)`.
    ///   The message does not quote the value.
    public func value<Value: Decodable>(_ type: Value.Type = Value.self, for key: String) throws(KeychainError)
        -> Value?
    {
        let coding = keychain.coding
        return try keychain.item(for: key).map { item throws(KeychainError) in
            try coding.value(type, of: item.value, for: key)
        }
    }

    /// Reads the bytes that are stored for a key, into memory that is erased when the value goes.
    ///
    /// - Parameter key: The item's key.
    /// - Returns: `nil` if no item is stored for the key.
    /// - Throws: The errors of `string(for:)`. Bytes that are not UTF-8 are no error here.
    public func secret(for key: String) throws(KeychainError) -> Secret? {
        guard let item = try keychain.item(for: key) else { return nil }
        return Secret(item.value)
    }

    /// Runs `body` with the bytes that are stored for a key. They are erased afterwards.
    ///
    /// ```swift
    /// let isRight = try keychain.withSecret(for: "pin") { $0.elementsEqual(typed) }
    /// ```
    ///
    /// - Parameters:
    ///   - key: The item's key.
    ///   - body: Uses the bytes. The pointer must not escape.
    /// - Returns: The result of `body`. `nil` means that no item is stored for the key, and that `body` was not called.
    /// - Throws: The errors of `string(for:)`, or an error of `body`.
    public func withSecret<R>(
        for key: String, _ body: (UnsafeRawBufferPointer) throws(KeychainError) -> R
    ) throws(KeychainError) -> R? {
        try keychain.item(for: key).map { item throws(KeychainError) in try item.value.withUnsafeBytes(body) }
    }

    /// This form takes a closure that throws any error.
    @_disfavoredOverload
    public func withSecret<R>(for key: String, _ body: (UnsafeRawBufferPointer) throws -> R) throws -> R? {
        try withSecret(for: key) { bytes in Result { try body(bytes) } }?.get()
    }

    /// Tells whether an item is stored for a key, without asking a person.
    ///
    /// It does not read the value, so a value that would not open counts as stored. The call waits for no writer.
    ///
    /// - Parameter key: The item's key.
    /// - Throws: ``KeychainError/Code/interactionNotAllowed`` while the item is locked. Before the first unlock it may
    ///   be thrown for a missing item too, since locked items cannot be searched then.
    public func contains(_ key: String) throws(KeychainError) -> Bool {
        let nothing = SeenItems(try keychain.query(for: key), versions: [], hasSecrets: false)
        return try !keychain.commit(TransactionRequest(seen: [nothing], steps: []))
    }

    /// Finds all keys, in no particular order.
    ///
    /// The call reads the attributes of every item and not its value. If one of the items asks a person, this call does
    /// too.
    ///
    /// - Throws: ``KeychainError/Code/interactionNotAllowed`` if one of the items is locked: it gives all keys or none.
    public func keys() throws(KeychainError) -> [String] { try keychain.allItems().map(\.key) }

    /// Counts the keys, at the cost of `keys()`. If one of the items asks a person, this call does too.
    ///
    /// - Throws: ``KeychainError/Code/interactionNotAllowed`` if one of the items is locked.
    public func count() throws(KeychainError) -> Int { try keychain.allItems().count }

    /// Reads all keys with their values, as they are at one moment and in no particular order.
    ///
    /// ```swift
    /// for (name, token) in try keychain.items(String.self) { print(name, token.count) }
    /// ```
    ///
    /// If one of the items asks a person, this call does too.
    ///
    /// - Parameter type: The type of all values, as for `value(_:for:)`.
    /// - Returns: The keys with their values. Two keys may be equal to Swift and differ in their bytes.
    /// - Throws: ``KeychainError/Code/interactionNotAllowed`` if one of the items is locked;
    ///   ``KeychainError/Code/decode`` if one of them is no such value; `.dataTooLarge` if a daemon's answer would be too
    ///   large.
    public func items<Value: Decodable>(
        _ type: Value.Type = Value.self
    ) throws(KeychainError) -> [(key: String, value: Value)] {
        let keychain = keychain
        return try keychain.allItems(wantsSecrets: true).map { (key, item) throws(KeychainError) in
            (key, try keychain.coding.value(type, of: item.value, for: key))
        }
    }

    /// Reads what is stored beside the value of a key, such as its dates and its label. It never asks a person.
    ///
    /// - Parameter key: The item's key.
    /// - Returns: `nil` if no item is stored for the key.
    /// - Throws: ``KeychainError/Code/interactionNotAllowed`` while the item is locked, and for an item that asks a
    ///   person, unless the ``Keychain/context`` has the answer.
    public func attributes(for key: String) throws(KeychainError) -> Keychain.Attributes? {
        let silent = keychain.withoutAsking()
        return try silent.item(for: key, wantsSecrets: false).map { Keychain.Attributes($0) }
    }

    // MARK: Writing

    /// Stores a value for a key, in the place of a former value.
    ///
    /// ```swift
    /// try keychain.set(Login(name: "ada", password: "4711"), for: "mail")
    /// try keychain.set("s3cret", for: "accessToken", expires: .after(hours: 24))
    /// ```
    ///
    /// An item that is there keeps everything that the call does not name: its date of creation, the moment at which
    /// it expires, its label and comment, and its access control unless ``Keychain/accessControl`` names one. Changing
    /// an item that asks a person asks here as well.
    ///
    /// - Parameters:
    ///   - value: The value. A `String`, a `Data` and a `[UInt8]` are stored as their bytes, any other value as
    ///     ``Keychain/coding`` encodes it. `nil` removes the item, also if the type alone says at run
    ///     time that the value may be `nil`.
    ///   - key: The item's key.
    ///   - expires: The moment from which the value is gone. `nil` leaves the present one, and a new item has none;
    ///     `.never` takes it away.
    ///   - label: A text for a person, such as the name of the item in a list. `nil` leaves the present one.
    ///   - comment: A remark that a person may read. `nil` leaves the present one.
    /// - Throws: ``KeychainError/Code/parameter`` if the value cannot be encoded;
    ///   ``KeychainError/Code/interactionNotAllowed`` while the item, or the key for a new one, is locked;
    ///   ``KeychainError/Code/missingEntitlement`` for a group that the program does not hold;
    ///   ``KeychainError/Code/authenticationFailed`` if the access control needs a passcode or a finger and there is
    ///   none; `.dataTooLarge` beyond 64 MiB; `.diskFull`. The former value is still there after any of them.
    public func set<Value: Encodable>(
        _ value: Value?, for key: String, expires: Keychain.Expiration? = nil, label: String? = nil,
        comment: String? = nil
    ) throws(KeychainError) {
        let secret = try keychain.coding.secret(of: value, for: key)
        try keychain.put(secret, for: key, Keychain.Remarks(expires, label, comment))
    }

    /// Stores a part of a text or of bytes for a key, in the place of a former value.
    ///
    /// - Parameters:
    ///   - slice: A `Substring` or an `ArraySlice<UInt8>`. `nil` removes the item.
    ///   - key: The item's key.
    ///   - expires: The moment from which the value is gone. `nil` leaves the present one.
    ///   - label: A text for a person. `nil` leaves the present one.
    ///   - comment: A remark that a person may read. `nil` leaves the present one.
    /// - Throws: The errors of `set(_:for:)` with a value.
    public func set(
        _ slice: (some KeychainSlice)?, for key: String, expires: Keychain.Expiration? = nil, label: String? = nil,
        comment: String? = nil
    ) throws(KeychainError) {
        let secret = try keychain.coding.secret(of: slice, for: key)
        try keychain.put(secret, for: key, Keychain.Remarks(expires, label, comment))
    }

    /// Stores bytes for a key, in the place of a former value.
    ///
    /// - Parameters:
    ///   - secret: The bytes. They stay in memory that is erased.
    ///   - key: The item's key.
    ///   - expires: The moment from which the value is gone. `nil` leaves the present one.
    ///   - label: A text for a person. `nil` leaves the present one.
    ///   - comment: A remark that a person may read. `nil` leaves the present one.
    /// - Throws: The errors of `set(_:for:)` with a value.
    public func set(
        _ secret: borrowing Secret, for key: String, expires: Keychain.Expiration? = nil, label: String? = nil,
        comment: String? = nil
    ) throws(KeychainError) {
        try keychain.put(secret.bytes, for: key, Keychain.Remarks(expires, label, comment))
    }

    /// Stores bytes for a key, or removes the item if there are none.
    ///
    /// - Parameters:
    ///   - secret: The bytes. They stay in memory that is erased. `nil` removes the item.
    ///   - key: The item's key.
    ///   - expires: The moment from which the value is gone. `nil` leaves the present one.
    ///   - label: A text for a person. `nil` leaves the present one.
    ///   - comment: A remark that a person may read. `nil` leaves the present one.
    /// - Throws: The errors of `set(_:for:)` with a value.
    public func set(
        _ secret: borrowing Secret?, for key: String, expires: Keychain.Expiration? = nil, label: String? = nil,
        comment: String? = nil
    ) throws(KeychainError) {
        try keychain.put(Secret.bytes(of: secret), for: key, Keychain.Remarks(expires, label, comment))
    }

    /// Stores a value for a key that has none.
    ///
    /// If several programs add a value for one key at once, one of them succeeds.
    ///
    /// - Parameters:
    ///   - value: The value, stored as by `set(_:for:)`. A `nil` that shows at run time throws `.parameter`.
    ///   - key: The item's key.
    ///   - expires: The moment from which the value is gone. `nil` and `.never` mean that there is none.
    ///   - label: A text for a person.
    ///   - comment: A remark that a person may read.
    /// - Throws: ``KeychainError/Code/duplicateItem`` if the key has a value; otherwise the errors of `set(_:for:)`.
    public func add<Value: Encodable>(
        _ value: Value, for key: String, expires: Keychain.Expiration? = nil, label: String? = nil,
        comment: String? = nil
    ) throws(KeychainError) {
        guard let secret = try keychain.coding.secret(of: value, for: key) else {
            throw KeychainError(.parameter, message: "nil cannot be added for \(key.quoted): it is no value")
        }
        let remarks = Keychain.Remarks(expires, label, comment)
        _ = try keychain.ask(.add(try keychain.addRequest(secret, for: key, remarks)))
    }

    /// Stores a value for a key that has one. The item keeps everything that the call does not name.
    ///
    /// - Parameters:
    ///   - value: The value, stored as by `set(_:for:)`. `nil` removes the item.
    ///   - key: The item's key.
    ///   - expires: The moment from which the value is gone. `nil` leaves the present one; `.never` takes it away.
    ///   - label: A text for a person. `nil` leaves the present one.
    ///   - comment: A remark that a person may read. `nil` leaves the present one.
    /// - Throws: ``KeychainError/Code/itemNotFound`` if the key has no value; otherwise the errors of `set(_:for:)`.
    public func update<Value: Encodable>(
        _ value: Value?, for key: String, expires: Keychain.Expiration? = nil, label: String? = nil,
        comment: String? = nil
    ) throws(KeychainError) {
        let query = try keychain.query(for: key)
        guard let secret = try keychain.coding.secret(of: value, for: key) else {
            _ = try keychain.ask(.delete(query))
            return
        }
        let remarks = Keychain.Remarks(expires, label, comment)
        var changes = ItemChanges()
        remarks.add(to: &changes.attributes)
        changes.expires = try remarks.expiry()
        changes.secret = secret
        changes.accessControl = keychain.accessControl?.model
        try keychain.ask(.update(UpdateRequest(query, changes: changes)))
    }

    /// Removes the item of a key, without asking a person unless the access control constrains deletion.
    ///
    /// A locked item can be removed too, and the call works on a full disk.
    ///
    /// - Parameter key: The item's key.
    /// - Returns: Whether there was an item.
    /// - Throws: ``KeychainError/Code/interactionNotAllowed`` before the first unlock, while the keychain has locked
    ///   passwords, and for a locked item whose access control constrains deletion.
    @discardableResult
    public func remove(_ key: String) throws(KeychainError) -> Bool {
        try keychain.delete(try keychain.query(for: key)) > 0
    }

    /// Removes all items that this value stands for: those of its service or server, in its group, with its prefix.
    ///
    /// All of them are removed, or none. With a ``Keychain/keyPrefix`` the call has to read the items' attributes, so it throws
    /// while one of them is locked, and asks if one of them asks a person. Without a prefix it does neither, unless an
    /// access control constrains deletion.
    ///
    /// - Returns: The number of items that were removed.
    /// - Throws: ``KeychainError/Code/interactionNotAllowed``; ``KeychainError/Code/notAvailable`` if other programs
    ///   change the items all the time.
    @discardableResult
    public func removeAll() throws(KeychainError) -> Int {
        let keychain = keychain
        if keychain.keyPrefix.isEmpty { return try keychain.delete(try keychain.query(for: nil)) }
        return try keychain.connection.untilUndisturbed { () throws(KeychainError) in
            let (items, seen) = try keychain.look()
            let steps = try items.map { item throws(KeychainError) in
                TransactionRequest.Step.delete(try keychain.query(for: item.key))
            }
            return try keychain.commit(TransactionRequest(seen: [seen], steps: steps)) ? items.count : nil
        }
    }
}

extension Keychain {
    /// The remarks of a call that writes, beside the value. A remark that is nil says nothing.
    struct Remarks {
        private let expires: Expiration?
        private let label: String?
        private let comment: String?

        init(_ expires: Expiration? = nil, _ label: String? = nil, _ comment: String? = nil) {
            (self.expires, self.label, self.comment) = (expires, label, comment)
        }

        func expiry() throws(KeychainError) -> ItemExpiry? {
            try expires.map { expires throws(KeychainError) in try expires.model() }
        }

        /// These remarks, and the former ones where these say nothing.
        func over(_ former: Remarks) -> Remarks {
            Remarks(expires ?? former.expires, label ?? former.label, comment ?? former.comment)
        }

        func add(to attributes: inout AttributeSet) {
            if let label { attributes.append(.label, .text(label)) }
            if let comment { attributes.append(.comment, .text(comment)) }
        }
    }

    /// - Parameter secret: nil: the item is removed.
    func put(_ secret: SecretBytes?, for key: String, _ remarks: Remarks) throws(KeychainError) {
        if let secret {
            _ = try commit(TransactionRequest(steps: [.put(try addRequest(secret, for: key, remarks))]))
        } else {
            _ = try delete(try query(for: key))
        }
    }
}
