// Swift takes the form of a call by its place: the blocking one outside of tasks, the other one in `async` code. The
// views leave it to the program. Each form is written once, for ``Keychain`` and its view.

/// The calls that block their thread until they are done.
///
/// A ``Keychain`` has them, and so has its view ``Keychain/blocking``. A program conforms no types of its own.
public protocol KeychainBlockingCalls: Sendable {
    /// The keychain that the calls use.
    var keychain: Keychain { get }
}

/// The calls for tasks, which never block a thread of Swift's pool.
///
/// A ``Keychain`` has them, and so has its view ``Keychain/tasks``. A program conforms no types of its own.
public protocol KeychainTaskCalls: Sendable {
    /// The keychain that the calls use.
    var keychain: Keychain { get }
}

extension Keychain: KeychainBlockingCalls, KeychainTaskCalls {
    /// This value itself, as the calls of both forms use it.
    public var keychain: Keychain { self }

    /// A keychain with the blocking calls alone.
    public struct BlockingView: KeychainBlockingCalls {
        /// The keychain that the calls use.
        public let keychain: Keychain
    }

    /// A keychain with the calls for tasks alone.
    public struct TaskView: KeychainTaskCalls {
        /// The keychain that the calls use.
        public let keychain: Keychain
    }

    /// The blocking calls, for `async` code in which `await` is not allowed: the right side of `??` and `&&`, and the
    /// arguments of an assertion.
    ///
    /// ```swift
    /// let token = try keychain.blocking.string(for: "token") ?? keychain.blocking.string(for: "oldToken")
    /// ```
    ///
    /// A call blocks its thread, which belongs to Swift's pool there. A person who is asked keeps it for as long as the
    /// answer takes.
    public var blocking: BlockingView { BlockingView(keychain: self) }

    /// The calls for tasks, for the top level of `main.swift`, where Swift takes the blocking form of a plain call.
    ///
    /// ```swift
    /// try await keychain.tasks.set("s3cret", for: "token")
    /// ```
    public var tasks: TaskView { TaskView(keychain: self) }
}
