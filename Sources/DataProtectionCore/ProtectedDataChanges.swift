internal import KeychainClient

/// A change of the access to files of the classes A and B: ``FileProtection/complete`` and
/// ``FileProtection/completeUnlessOpen``.
public enum ProtectedDataChange: Sendable, Hashable, CaseIterable {
    /// The files are about to stop opening.
    ///
    /// A program has up to three seconds to read what it needs and to write what it has not saved.
    case willBecomeUnavailable
    /// The files do not open any more. A call that had begun before has ten seconds to end.
    case didBecomeUnavailable
    /// The files open.
    ///
    /// It follows an unlock. It also follows ``willBecomeUnavailable`` if the lock that was announced did not come.
    case didBecomeAvailable
}

/// A sequence of lock and unlock events, which a lock waits for.
///
/// ```swift
/// for await change in files.protectedDataChanges where change == .willBecomeUnavailable {
///     await editor.save()  // the lock waits for this, for three seconds at most
/// }
/// ```
///
/// After ``ProtectedDataChange/willBecomeUnavailable`` the lock waits until the loop asks for the next element or is
/// left. So the body of a `for await` runs before the lock. A task that the body starts and does not await may run
/// after it.
///
/// The value may be passed to any task. ``ProtectedFiles/protectedDataChanges`` tells what the sequence costs.
public struct ProtectedDataChanges: AsyncSequence, Sendable {
    /// An element is one change.
    public typealias Element = ProtectedDataChange
    /// The sequence throws no error, and ends with the task that reads it.
    public typealias Failure = Never

    private let events: AsyncStream<LockEvent>

    init(_ connection: Connection) { events = connection.lockEvents }

    /// Makes an iterator. Two iterators share the changes between them, as with an `AsyncStream`: each change goes to
    /// one.
    public func makeAsyncIterator() -> Iterator { Iterator(events.makeAsyncIterator()) }

    /// An iterator over the changes of a keychain's lock. It holds the lock back while its last element is in use.
    public struct Iterator: AsyncIteratorProtocol {
        private var events: AsyncStream<LockEvent>.Iterator
        /// The notice of the element that was returned last. The lock waits for its end.
        private var notice: LockNotice?

        fileprivate init(_ events: AsyncStream<LockEvent>.Iterator) { self.events = events }

        /// Waits for the next change, on no particular actor.
        ///
        /// Calling it ends the notice of the element before, so a lock that waits for this iterator goes on.
        ///
        /// - Returns: `nil` if the task was cancelled.
        public mutating func next() async -> ProtectedDataChange? { await next(isolation: nil) }

        /// Waits for the next change, on the caller's actor.
        ///
        /// Calling it ends the notice of the element before, so a lock that waits for this iterator goes on.
        ///
        /// - Parameter actor: The actor that the call stays on.
        /// - Returns: `nil` if the task was cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> ProtectedDataChange? {
            notice = nil
            switch await events.next(isolation: actor) {
            case .willLock(let given):
                notice = given
                return .willBecomeUnavailable
            case .didLock: return .didBecomeUnavailable
            case .didUnlock: return .didBecomeAvailable
            case nil: return nil
            }
        }
    }
}
