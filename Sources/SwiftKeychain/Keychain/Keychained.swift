public import KeychainModel
public import Observation
internal import Synchronization

/// A property whose value is in the keychain.
///
/// ```swift
/// struct Session {
///     @Keychained("refreshToken", in: Keychain(service: "com.example.app")) var refreshToken: String?
/// }
/// ```
///
/// Each read of the property reads the keychain. Each assignment is stored when it returns, and `nil` removes the item.
///
/// **Errors.** A property cannot throw. A read that fails gives `nil`, and an assignment that fails changes nothing.
/// ``Entry/error`` of `$refreshToken` tells the reason until the next access succeeds. A program that must tell "there
/// is none" from "the keychain is locked" calls `try $refreshToken.get()`.
///
/// **Threads.** The property may be one of a struct, a class or an actor, and blocks its thread. In a task,
/// `try await $refreshToken.get()` does not. The expression after `in:` is evaluated before the object is made, so it
/// can name a global or static property and no property of the object.
///
/// **Observation.** Code that observes the property is told of assignments to it, and not of changes by other programs,
/// which ``Keychain/changes`` has. In a class with `@Observable`, mark the property `@ObservationIgnored`: the macro
/// would declare its storage a second time, and the property is observable by itself.
@propertyWrapper
public struct Keychained<Value: Codable & Sendable>: Sendable {
    /// The item behind the property, as `$name`, with calls that throw and calls for tasks.
    public let projectedValue: Entry

    /// Makes a property for one item. It opens nothing.
    ///
    /// - Parameters:
    ///   - key: The item's key.
    ///   - keychain: The keychain of the item.
    ///   - expires: The moment from which an assigned value is gone. A length of time counts from each assignment. After
    ///     a date, assignments fail. `nil` leaves the moment that the stored value has.
    public init(_ key: String, in keychain: Keychain, expires: Keychain.Expiration? = nil) {
        projectedValue = Entry(key, keychain, expires)
    }

    /// The stored value. `nil` means that there is none, or that it cannot be read: see ``Entry/error``.
    ///
    /// Assigning `nil` removes the item, unless the last access has failed: Swift also assigns the `nil` of a failed read when a
    /// part of the value is changed in its place. `try $name.set(nil)` removes the item in any case.
    public var wrappedValue: Value? {
        get {
            do throws(KeychainError) { return try projectedValue.get() } catch { return nil }
        }
        nonmutating set {
            if newValue == nil && projectedValue.hasFailed { return }
            do throws(KeychainError) { try projectedValue.set(newValue) } catch { return }  // Entry.error has it
        }
    }

    /// One item of the keychain, with calls that throw. It may be used by any thread and any task.
    ///
    /// ```swift
    /// do {
    ///     let token = try session.$refreshToken.get()
    /// } catch where error.code == .interactionNotAllowed {
    ///     // The keychain is locked.
    /// }
    /// ```
    public final class Entry: Sendable, Observable {
        /// The key of the item.
        public let key: String
        /// The keychain of the item.
        public let keychain: Keychain
        private let expires: Keychain.Expiration?
        private let failure = Mutex<KeychainError?>(nil)
        private let registrar = ObservationRegistrar()

        fileprivate init(_ key: String, _ keychain: Keychain, _ expires: Keychain.Expiration?) {
            self.key = key
            self.keychain = keychain
            self.expires = expires
        }

        /// The error of the last read or assignment. `nil` means that it succeeded.
        ///
        /// Code that observes it is told when its status changes. With several threads, it is the error of the access
        /// that ended last.
        public var error: KeychainError? {
            registrar.access(self, keyPath: \.error)
            return failure.withLock { $0 }
        }

        /// ``error`` for what is no observer.
        fileprivate var hasFailed: Bool { failure.withLock { $0 != nil } }

        /// Reads the stored value.
        ///
        /// - Returns: `nil` if no item is stored.
        /// - Throws: The errors of `Keychain.value(_:for:)`.
        public func get() throws(KeychainError) -> Value? {
            registrar.access(self, keyPath: \.observed)
            return try note(Result { () throws(KeychainError) in try keychain.value(for: key) })
        }

        /// Reads the stored value without blocking the thread of the task.
        ///
        /// Cancelling the task takes back a question that a person is being asked, and the call throws
        /// `.userCancelled`.
        ///
        /// - Returns: `nil` if no item is stored.
        /// - Throws: The errors of `Keychain.value(_:for:)`, and `.userCancelled`.
        public func get() async throws(KeychainError) -> Value? {
            registrar.access(self, keyPath: \.observed)
            return try note(await result { () async throws(KeychainError) in try await keychain.value(for: key) })
        }

        /// Stores a value. `nil` removes the item.
        ///
        /// - Parameter value: The value.
        /// - Throws: The errors of `Keychain.set(_:for:)` or `Keychain.remove(_:)`. The former value is still there
        ///   then.
        public func set(_ value: Value?) throws(KeychainError) {
            let result = Result { () throws(KeychainError) in
                if let value { try keychain.set(value, for: key, expires: expires) } else { try keychain.remove(key) }
            }
            registrar.withMutation(of: self, keyPath: \.observed) {}
            try note(result)
        }

        /// Stores a value without blocking the thread of the task. `nil` removes the item.
        ///
        /// A write that has begun is finished even if the task is cancelled.
        ///
        /// - Parameter value: The value.
        /// - Throws: The errors of `Keychain.set(_:for:)` or `Keychain.remove(_:)`, and `.userCancelled`.
        public func set(_ value: Value?) async throws(KeychainError) {
            let result = await result { () async throws(KeychainError) in
                if let value {
                    try await keychain.set(value, for: key, expires: expires)
                } else {
                    try await keychain.remove(key)
                }
            }
            registrar.withMutation(of: self, keyPath: \.observed) {}
            try note(result)
        }

        /// The property by which observers of the value are told.
        private var observed: Void { () }

        private func note<R>(_ result: Result<R, KeychainError>) throws(KeychainError) -> R {
            let error: KeychainError? = if case .failure(let error) = result { error } else { nil }
            let isNews = failure.withLock { former in
                defer { former = error }
                return former?.status != error?.status
            }
            // Observers are told after the change, since they look at once.
            if isNews { registrar.withMutation(of: self, keyPath: \.error) {} }
            return try result.get()
        }

        private func result<R>(_ body: () async throws(KeychainError) -> R) async -> Result<R, KeychainError> {
            do throws(KeychainError) { return .success(try await body()) } catch { return .failure(error) }
        }
    }
}
