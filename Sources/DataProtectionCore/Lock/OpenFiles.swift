internal import Glibc
internal import KeychainClient
internal import KeychainModel
internal import SealedFiles
internal import Synchronization

/// The protected files that are open under one keychain.
///
/// When the keychain is locked, the keys of classes that close then leave this process, even if no call uses the files:
/// class A at once, and the class "when user inactive" when the time after the lock is over.
final class OpenFiles: Sendable {
    private struct Weak {
        weak var file: SealedFile?
    }
    private struct State {
        var files: [ObjectIdentifier: Weak] = [:]
        var feed: LockFeed?
        /// Whether the feed ends in a moment, unless a file is opened before.
        var isEnding = false
    }
    private let keys: FileKeys
    private var connection: Connection { keys.connection }
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())

    let gate: LockGate

    private init(_ keys: FileKeys, now: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.keys = keys
        self.now = now
        gate = LockGate(keys, now: now)
    }

    deinit { state.withLock { $0.feed?.end() } }

    // MARK: One for each keychain

    private struct WeakSelf: Sendable {
        weak var files: OpenFiles?
    }
    private static let all = Mutex<[ObjectIdentifier: WeakSelf]>([:])

    /// The open files of one keychain.
    ///
    /// - Parameter now: The clock, which only tests replace.
    static func of(_ keys: FileKeys, now: @escaping @Sendable () -> ContinuousClock.Instant) -> OpenFiles {
        all.withLock { all in
            let connection = keys.connection
            let id = ObjectIdentifier(connection)
            // A later object can have the address of an earlier one.
            if let known = all[id]?.files, known.connection === connection { return known }
            all = all.filter { $0.value.files != nil }
            let made = OpenFiles(keys, now: now)
            all[id] = WeakSelf(files: made)
            return made
        }
    }

    // MARK: Files

    /// Adds a file. It must be called before the file's key is asked for, so that a lock in between takes the key too.
    func add(_ file: SealedFile) {
        state.withLock { state in
            state.files[ObjectIdentifier(file)] = Weak(file: file)
            // One whose thread could not be started is made anew, or a lock would leave the keys here.
            if let feed = state.feed, !feed.hasEnded { return }
            let mine = WeakSelf(files: self)
            state.feed = LockFeed(connection) { mine.files?.takeKeys(of: $0) }
        }
    }

    /// Removes a file that is closed. The file may be deallocating.
    func remove(_ file: ObjectIdentifier) {
        let mustEnd = state.withLock { state in
            state.files[file] = nil
            guard state.files.isEmpty, !state.isEnding else { return false }
            state.isEnding = true
            return true
        }
        // The feed ends later: it takes a thread, and a program that opens one file after the other needs it again.
        if mustEnd {
            Task {
                try? await Task.sleep(for: Self.patience)
                self.endIfUnused()
            }
        }
    }

    private static let patience = Duration.seconds(5)

    private func endIfUnused() {
        state.withLock { state in
            state.isEnding = false
            guard state.files.isEmpty else { return }
            state.feed?.end()
            state.feed = nil
        }
    }

    private func takeKeys(of closed: ClosedClasses) {
        func drop(_ file: SealedFile, _ loss: SealedFile.KeyLoss) -> Bool {
            file.dropKey(loss, closed.classes.contains)
        }
        let end = now() + LockStatus.graceLength
        // Idle files lose their keys first. Then come files whose content has to be made durable before.
        var left = state.withLock { $0.files.values.compactMap(\.file) }.filter { !drop($0, .ifIdle) }
        left = left.filter { !drop($0, .unlessUsed) }
        while !left.isEmpty {
            let status = try? connection.lockStatus()
            let mayFinish = now() < end && status.map { $0.state == .unlocked || $0.isWithinGrace } ?? false
            left = left.filter { !drop($0, mayFinish ? .unlessUsed : .certain) }
            // A later lock is told of anew, and concerns files that were used in between too.
            if let status, status.epoch != closed.epoch { return }
            if !left.isEmpty { usleep(20_000) }
        }
    }
}
