internal import Glibc
internal import Keychain
internal import Synchronization

/// The protected files that are open under one keychain: when that is locked, the keys of class A leave this process,
/// whether somebody uses the files or not.
final class OpenFiles: Sendable {
    private struct Weak {
        weak var file: SealedFile?
    }
    private struct State {
        var files: [ObjectIdentifier: Weak] = [:]
        var watch: Task<Void, Never>?
    }
    private let connection: Connection
    private let state = Mutex(State())

    let gate: LockGate

    private init(_ keys: FileKeys, now: @escaping @Sendable () -> ContinuousClock.Instant) {
        connection = keys.connection
        gate = LockGate(keys, now: now)
    }

    deinit { state.withLock { $0.watch?.cancel() } }

    // MARK: One for each keychain

    private struct WeakSelf: Sendable {
        weak var files: OpenFiles?
    }
    private static let all = Mutex<[ObjectIdentifier: WeakSelf]>([:])

    /// - Parameter now: Another time in tests alone.
    static func of(_ keys: FileKeys, now: @escaping @Sendable () -> ContinuousClock.Instant) -> OpenFiles {
        all.withLock { all in
            let connection = keys.connection
            let id = ObjectIdentifier(connection)
            // An object that came later in the same place is another one's.
            if let known = all[id]?.files, known.connection === connection { return known }
            all = all.filter { $0.value.files != nil }
            let made = OpenFiles(keys, now: now)
            all[id] = WeakSelf(files: made)
            return made
        }
    }

    // MARK: Files

    func add(_ file: SealedFile) {
        state.withLock { state in
            state.files[ObjectIdentifier(file)] = Weak(file: file)
            guard state.watch == nil else { return }
            // From now on, and not from when the task begins.
            let changes = connection.lockChanges
            state.watch = Task { [weak self] in
                for await change in changes where change != .unlocked { await self?.takeKeys() }
                // Nothing tells of locks any more: as if there was one.
                if !Task.isCancelled { await self?.takeKeys() }
            }
        }
    }

    /// To be called by a file that is closed. It may be one that is going away.
    func remove(_ file: ObjectIdentifier) {
        state.withLock { state in
            state.files[file] = nil
            guard state.files.isEmpty else { return }
            state.watch?.cancel()
            state.watch = nil
        }
    }

    private func takeKeys() async {
        await BlockingCalls.run { [self] in
            let end = ContinuousClock.now + SealedFile.grace
            // Those first that wait for nothing.
            var left = state.withLock { $0.files.values.compactMap(\.file) }.filter { !$0.dropKey(.ifIdle) }
            while !left.isEmpty {
                left = left.filter { !$0.dropKey(ContinuousClock.now < end ? .unlessUsed : .certain) }
                if !left.isEmpty { usleep(20_000) }
            }
        }
    }
}
