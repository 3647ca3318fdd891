internal import SwiftKeychain

/// What happens to files of classes A and B, ``FileProtection/complete`` and ``FileProtection/completeUnlessOpen``.
public enum ProtectedDataChange: Sendable, Hashable, CaseIterable {
    /// They are about to stop opening. There is time to read what is needed and to write what is not saved, up to three
    /// seconds.
    case willBecomeUnavailable
    /// They do not open any more.
    case didBecomeUnavailable
    /// They open: again, or still, if a lock that was announced did not come.
    case didBecomeAvailable
}

/// The changes that ``ProtectedFiles/protectedDataChanges`` tells.
///
/// After ``ProtectedDataChange/willBecomeUnavailable`` the lock waits until the next element is asked for, or the loop
/// is left: the body of a `for await` is done in time, and what it begins and does not wait for need not be.
public struct ProtectedDataChanges: AsyncSequence, Sendable {
    public typealias Element = ProtectedDataChange
    public typealias Failure = Never

    private let events: AsyncStream<LockEvent>

    init(_ connection: Connection) { events = connection.lockEvents }

    /// As with an `AsyncStream`, each change goes to one iterator.
    public func makeAsyncIterator() -> Iterator { Iterator(events.makeAsyncIterator()) }

    public struct Iterator: AsyncIteratorProtocol {
        private var events: AsyncStream<LockEvent>.Iterator
        /// Of what was returned last.
        private var notice: LockNotice?

        fileprivate init(_ events: AsyncStream<LockEvent>.Iterator) { self.events = events }

        public mutating func next() async -> ProtectedDataChange? { await next(isolation: nil) }

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
