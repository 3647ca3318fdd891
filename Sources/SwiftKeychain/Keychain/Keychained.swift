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
/// Each read reads the keychain, and each assignment is stored when it returns; nil removes the item. A property cannot throw:
/// a read that fails gives nil, and an assignment that fails changes nothing. Then ``Entry/error`` of `$refreshToken` says why,
/// until the next one succeeds. Where nil must not be mistaken for "there is none", as while the keychain is locked, call
/// `try $refreshToken.get()`.
///
/// The property of a struct, a class or an actor. All of them block their thread; in a task, `try await $refreshToken.get()`
/// does not. `in:` is evaluated before the object is made: it can name a global or a static property, and none of the
/// instance. SwiftUI-like code that observes the property is told of assignments to it, and not of changes by others:
/// ``Keychain/changes`` has those. In a class with `@Observable`, mark it `@ObservationIgnored`: the macro would declare its
/// storage a second time, and it is observable as it is.
@propertyWrapper
public struct Keychained<Value: Codable & Sendable>: Sendable {
    /// The property itself, as `$name`: with errors, and for tasks.
    public let projectedValue: Entry

    /// - Parameters:
    ///   - key: The item's key.
    ///   - keychain: Where it is.
    public init(_ key: String, in keychain: Keychain) { projectedValue = Entry(key, keychain) }

    /// nil: there is none, or it cannot be read (``Entry/error``).
    public var wrappedValue: Value? {
        get {
            do throws(KeychainError) { return try projectedValue.get() } catch { return nil }
        }
        nonmutating set {
            do throws(KeychainError) { try projectedValue.set(newValue) } catch { return }  // Entry.error has it
        }
    }

    /// One item of the keychain.
    public final class Entry: Sendable, Observable {
        /// The item's key.
        public let key: String
        /// Where it is.
        public let keychain: Keychain
        private let failure = Mutex<KeychainError?>(nil)
        private let registrar = ObservationRegistrar()

        fileprivate init(_ key: String, _ keychain: Keychain) {
            self.key = key
            self.keychain = keychain
        }

        /// Why the last read or assignment has failed; nil: it did not.
        public var error: KeychainError? {
            registrar.access(self, keyPath: \.error)
            return failure.withLock { $0 }
        }

        /// What is stored; nil: nothing is.
        ///
        /// - Throws: as `Keychain.value(_:for:)`.
        public func get() throws(KeychainError) -> Value? {
            registrar.access(self, keyPath: \.observed)
            return try note(Result { () throws(KeychainError) in try keychain.value(for: key) })
        }

        /// As the blocking call.
        public func get() async throws(KeychainError) -> Value? {
            registrar.access(self, keyPath: \.observed)
            return try note(await result { () async throws(KeychainError) in try await keychain.value(for: key) })
        }

        /// Stores a value; nil removes the item.
        ///
        /// - Throws: as `Keychain.set(_:for:)`.
        public func set(_ value: Value?) throws(KeychainError) {
            let result = Result { () throws(KeychainError) in
                if let value { try keychain.set(value, for: key) } else { try keychain.remove(key) }
            }
            registrar.withMutation(of: self, keyPath: \.observed) {}
            try note(result)
        }

        /// As the blocking call.
        public func set(_ value: Value?) async throws(KeychainError) {
            let result = await result { () async throws(KeychainError) in
                if let value { try await keychain.set(value, for: key) } else { try await keychain.remove(key) }
            }
            registrar.withMutation(of: self, keyPath: \.observed) {}
            try note(result)
        }

        /// What observers of the value are told by.
        private var observed: Void { () }

        private func note<R>(_ result: Result<R, KeychainError>) throws(KeychainError) -> R {
            let error: KeychainError? = if case .failure(let error) = result { error } else { nil }
            let isNews = failure.withLock { former in
                defer { former = error }
                return former?.status != error?.status
            }
            // Told after the change: whoever is told looks at once.
            if isNews { registrar.withMutation(of: self, keyPath: \.error) {} }
            return try result.get()
        }

        private func result<R>(_ body: () async throws(KeychainError) -> R) async -> Result<R, KeychainError> {
            do throws(KeychainError) { return .success(try await body()) } catch { return .failure(error) }
        }
    }
}
