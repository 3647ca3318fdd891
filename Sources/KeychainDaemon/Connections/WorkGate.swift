internal import Dispatch
internal import KeychainModel

/// How many requests of a kind are worked on at once; the others wait in their threads.
///
/// Each kind has places of its own, so that none keeps another waiting, least of all a lock.
final class WorkGate: Sendable {
    enum Work: Sendable {
        case read, write, large, passcode
        /// Never waits.
        case immediate
    }

    private let reads: DispatchSemaphore
    private let writes: DispatchSemaphore
    private let large: DispatchSemaphore
    private let passcodes: DispatchSemaphore

    init(_ limits: Limits) {
        reads = DispatchSemaphore(value: limits.readsAtOnce)
        writes = DispatchSemaphore(value: limits.writesAtOnce)
        large = DispatchSemaphore(value: limits.largeAtOnce)
        passcodes = DispatchSemaphore(value: limits.passcodesAtOnce)
    }

    func pass<R, E: Error>(_ work: Work, _ body: () throws(E) -> R) throws(E) -> R {
        guard let places = places(for: work) else { return try body() }
        places.wait()
        defer { places.signal() }
        return try body()
    }

    private func places(for work: Work) -> DispatchSemaphore? {
        switch work {
        case .read: reads
        case .write: writes
        case .large: large
        case .passcode: passcodes
        case .immediate: nil
        }
    }
}

extension WorkGate.Work {
    /// A frame with more than this makes its request a large one.
    private static let mostOrdinaryBytes = 1 << 20

    /// - Parameter byteCount: How large the frame with the request was.
    init(_ request: Request, byteCount: Int) {
        switch request {
        case .lock, .lockStatus, .renewLease, .giveUpStore: self = .immediate
        case .unlock, .passcode: self = .passcode
        case .status: self = .read
        case .check, .rekeyStep, .exportItems, .importItems: self = .large
        case .find(let request): self = request.query.limit == .one ? .read : .large
        case .add, .update, .delete: self = byteCount > Self.mostOrdinaryBytes ? .large : .write
        }
    }
}
