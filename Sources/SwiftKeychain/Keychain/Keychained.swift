public import KeychainModel
public import Observation
internal import Synchronization

/// A property whose value is in the keychain.
///
/// ```swift
/// struct Session {
///     @Keychained("refreshToken", in: Keychain(service: "com.example.app")) var refreshToken: String?
///     @Keychained("isPremium", in: Keychain(service: "com.example.app")) var isPremium = false
/// }
/// ```
///
/// Each read of the property reads the keychain. Each assignment is stored when it returns, and `nil` removes the item. A
/// property with a default value has that value while no item is stored.
///
/// **Errors.** A property cannot throw: a read that fails gives `nil` or the default value, an assignment that fails
/// leaves the item as it was, and ``Entry/error`` of `$refreshToken` has the reason, for a read until the next access
/// succeeds and for an assignment until one is carried out. A program that must tell "there is none" from "the keychain
/// is locked" calls `try $refreshToken.get()`.
///
/// Assigning `nil` while the keychain is locked removes the item too. Before the first unlock since the system started it
/// fails.
///
/// **A change in place**, such as `login?.pin = 2` or `count += 1`, is carried out only if the value could be read, since
/// the new value would be made of nothing otherwise. This holds for the property itself, and not for a key path to it.
///
/// **A keychain that is handed in.** The expression after `in:` is evaluated before the object is made, so it can name a
/// global or static property and no property of the object. The initialiser of the object names another keychain:
///
/// ```swift
/// final class Account {
///     @Keychained var token: String?
///     init(_ keychain: Keychain) { _token = Keychained("token", in: keychain) }
/// }
/// ```
///
/// **Threads.** The property may be one of a struct, a class or an actor, and blocks its thread. A change in place is a
/// read and an assignment: `Keychain.modify(_:for:_:)` lets no other come between. In a task,
/// `try await $refreshToken.get()` does not.
///
/// **Observation.** Code that observes the property is told of assignments to it, and not of changes by other programs,
/// which ``Keychain/changes`` has. In a class with `@Observable`, mark the property `@ObservationIgnored`: the macro
/// would declare its storage a second time, and the property is observable by itself.
@propertyWrapper
public struct Keychained<Value: Codable & Sendable>: Sendable {
    /// The item behind the property, as `$name`, with calls that throw and calls for tasks.
    public let projectedValue: Entry

    /// Makes a property that is `nil` while no item is stored. It opens nothing.
    ///
    /// - Parameters:
    ///   - key: The item's key.
    ///   - keychain: The keychain of the item. By default it has the program's name.
    ///   - expires: The moment from which an assigned value is gone. A length of time counts from each assignment. After
    ///     a date, assignments fail. `nil` leaves the moment that the stored value has.
    public init<Stored: Codable & Sendable>(
        _ key: String, in keychain: Keychain = Keychain(), expires: Keychain.Expiration? = nil
    ) where Value == Stored? {
        self.init(wrappedValue: Stored?.none, key, in: keychain, expires: expires)
    }

    /// Makes a property with a default value. It opens nothing.
    ///
    /// - Parameters:
    ///   - wrappedValue: The value while no item is stored, and of a read that fails. It is stored by nothing but an assignment
    ///     or a change in place. An optional property has it again after `nil` was assigned.
    ///   - key: The item's key.
    ///   - keychain: The keychain of the item. By default it has the program's name.
    ///   - expires: The moment from which an assigned value is gone. A length of time counts from each assignment. After
    ///     a date, assignments fail. `nil` leaves the moment that the stored value has.
    public init(
        wrappedValue: Value, _ key: String, in keychain: Keychain = Keychain(), expires: Keychain.Expiration? = nil
    ) {
        projectedValue = Entry(key, keychain, fallback: wrappedValue, expires)
    }

    /// The stored value. It is `nil` or the default value if there is none, or if it cannot be read: see
    /// ``Entry/error``.
    public var wrappedValue: Value {
        get {
            do throws(KeychainError) { return try projectedValue.get() } catch { return projectedValue.fallback }
        }
        nonmutating set {
            do throws(KeychainError) { try projectedValue.set(newValue) } catch { return }  // Entry.error has it
        }
        nonmutating _modify {
            let result = Result { () throws(KeychainError) in try projectedValue.get() }
            switch result {
            case .success(var value):
                let wasNothing = Optional(value).isNothing
                // The assignment is deferred, since a change before an error counts.
                defer {
                    // Another program may have stored one meanwhile, which is no business of a change of nothing.
                    if !wasNothing || !Optional(value).isNothing { wrappedValue = value }
                }
                yield &value
            case .failure(let error):
                var value = projectedValue.fallback
                defer { projectedValue.noteNotCarriedOut(error) }
                yield &value
            }
        }
    }

    /// One item of the keychain, with calls that throw. It may be used by any thread and any task.
    ///
    /// ```swift
    /// do {
    ///     let token = try session.$refreshToken.get()
    /// } catch KeychainError.interactionNotAllowed {
    ///     // The keychain is locked.
    /// }
    /// ```
    public final class Entry: Sendable, Observable {
        /// The key of the item.
        public let key: String
        /// The keychain of the item.
        public let keychain: Keychain
        /// The value while no item is stored, and of a read that fails.
        fileprivate let fallback: Value
        private let expires: Keychain.Expiration?
        private let failures = Mutex(Failures())
        private let registrar = ObservationRegistrar()

        private struct Failures {
            var ofRead: KeychainError?
            var ofAssignment: KeychainError?

            var last: KeychainError? { ofAssignment ?? ofRead }
        }

        fileprivate init(_ key: String, _ keychain: Keychain, fallback: Value, _ expires: Keychain.Expiration?) {
            self.key = key
            self.keychain = keychain
            self.fallback = fallback
            self.expires = expires
        }

        /// The reason why the last assignment was not carried out, or else why the last read failed.
        ///
        /// An assignment's error stays until an assignment is carried out, and a read's error until the next access
        /// succeeds. Code that observes it is told of every assignment that fails, and when its status changes. With
        /// several threads, it is the error of the access that ended last.
        public var error: KeychainError? {
            registrar.access(self, keyPath: \.error)
            return failures.withLock { $0.last }
        }

        /// Reads the stored value.
        ///
        /// - Returns: `nil` or the default value if no item is stored.
        /// - Throws: The errors of `Keychain.value(_:for:)`.
        public func get() throws(KeychainError) -> Value {
            registrar.access(self, keyPath: \.observed)
            return try noteRead(Result { () throws(KeychainError) in try read(keychain) })
        }

        /// Reads the stored value without blocking the thread of the task.
        ///
        /// Cancelling the task takes back a question that a person is being asked, and the call throws
        /// `.taskCancelled`.
        ///
        /// - Returns: `nil` or the default value if no item is stored.
        /// - Throws: The errors of `Keychain.value(_:for:)`, and `.taskCancelled`.
        public func get() async throws(KeychainError) -> Value {
            registrar.access(self, keyPath: \.observed)
            return try noteRead(await result { keychain throws(KeychainError) in try self.read(keychain) })
        }

        /// Stores a value. `nil` removes the item.
        ///
        /// - Parameter value: The value.
        /// - Throws: The errors of `Keychain.set(_:for:)` or `Keychain.remove(_:)`. The former value is still there
        ///   then.
        public func set(_ value: Value) throws(KeychainError) {
            try noteAssignment(Result { () throws(KeychainError) in try write(keychain, value) })
        }

        /// Stores a value without blocking the thread of the task. `nil` removes the item.
        ///
        /// A write that has begun is finished even if the task is cancelled.
        ///
        /// - Parameter value: The value.
        /// - Throws: The errors of `Keychain.set(_:for:)` or `Keychain.remove(_:)`, and `.taskCancelled`.
        public func set(_ value: Value) async throws(KeychainError) {
            try noteAssignment(await result { keychain throws(KeychainError) in try self.write(keychain, value) })
        }

        private func read(_ keychain: Keychain) throws(KeychainError) -> Value {
            try keychain.value(Value.self, for: key) ?? fallback
        }

        private func write(_ keychain: Keychain, _ value: Value) throws(KeychainError) {
            try keychain.set(value, for: key, expires: expires)
        }

        /// The property by which observers of the value are told.
        private var observed: Void { () }

        private func noteRead(_ result: Result<Value, KeychainError>) throws(KeychainError) -> Value {
            let isNews = failures.withLock { failures in
                let former = failures.last
                failures.ofRead = result.error
                return former?.status != failures.last?.status
            }
            // Observers are told after the change, since they look at once.
            if isNews { registrar.withMutation(of: self, keyPath: \.error) {} }
            return try result.get()
        }

        private func noteAssignment(_ result: Result<Void, KeychainError>) throws(KeychainError) {
            if let error = result.error {
                noteNotCarriedOut(error)
            } else {
                let wereFailures = failures.withLock { failures in
                    defer { failures = Failures() }
                    return failures.last != nil
                }
                if wereFailures { registrar.withMutation(of: self, keyPath: \.error) {} }
            }
            registrar.withMutation(of: self, keyPath: \.observed) {}
            try result.get()
        }

        fileprivate func noteNotCarriedOut(_ error: KeychainError) {
            failures.withLock { $0.ofAssignment = error }
            registrar.withMutation(of: self, keyPath: \.error) {}
        }

        private func result<R: Sendable>(
            _ body: @escaping @Sendable (Keychain) throws(KeychainError) -> R
        ) async -> Result<R, KeychainError> {
            do throws(KeychainError) {
                return .success(try await keychain.inTask(body))
            } catch {
                return .failure(error)
            }
        }
    }
}

extension Result {
    fileprivate var error: Failure? { if case .failure(let error) = self { error } else { nil } }
}
