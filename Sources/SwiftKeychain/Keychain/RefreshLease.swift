internal import FoundationEssentials
internal import KeychainClient
internal import KeychainModel

/// The right to refresh the tokens of one key, which one of all programs has at a time.
///
/// It is an item that is added once and runs out. Its holder keeps it from running out, so the others wait some seconds for a
/// holder that was killed, and as long as it takes for a server that is slow.
struct RefreshLease: Sendable {
    /// Tells this holder from all others.
    let holder = UUID().uuidString
    let leases: Keychain
    let key: String
    let length: Duration
    let pause: @Sendable (Duration) async throws -> Void

    private static let pauseLength = Duration.milliseconds(50)
    /// How many times its length a lease is kept, however long the server takes.
    private static let mostLengths = 12

    /// Waits until no other program has the lease, and takes it.
    ///
    /// The lease is looked at again and again: one that runs out is no change that a program could be told of.
    ///
    /// - Returns: false: it is not needed any more, and was not taken. With the lease in hand the caller looks once more whether
    ///   it is.
    func take(while isNeeded: () async throws -> Bool) async throws -> Bool {
        var (former, looks) = (Data?.none, 0)
        while try await isNeeded() {
            let isAdded = try await add(expires: expiry)
            // Another program may have stored any bytes.
            let present = try await leases.data(for: key)
            // Otherwise the call took so long that the lease has run out.
            if isAdded && present == Data(holder.utf8) { return true }
            looks = present == former ? looks + 1 : 0
            former = present
            // A clock that was set back makes a lease run out late. No holder has kept it for so long.
            if Self.pauseLength * looks > length * (Self.mostLengths + 2) {
                _ = try await leases.compareAndSwap(key, from: present, to: nil)
            }
            try await pause(Self.pauseLength)
        }
        await giveBack()
        return false
    }

    /// Runs `body`, keeps the lease meanwhile, and gives it back.
    func hold<R>(_ body: () async throws -> R) async throws -> R {
        let renewal = Task {
            for _ in 0..<Self.mostLengths * 3 {
                try await pause(length / 3)
                // The next attempt comes before the lease runs out.
                _ = try? await keep()
            }
        }
        let result: Result<R, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        renewal.cancel()
        await giveBack()
        return try result.get()
    }

    private var expiry: Keychain.Expiration { .after(length) }

    private func add(expires: Keychain.Expiration) async throws(KeychainError) -> Bool {
        do throws(KeychainError) {
            try await leases.add(holder, for: key, expires: expires)
            return true
        } catch {
            if error.code == .duplicateItem { return false }
            // A clock that is behind a moment at which the keychain saw something expire. The others take the lease away.
            guard error.code == .parameter, expires != .never else { throw error }
            return try await add(expires: .never)
        }
    }

    private func keep() async throws {
        try await leases.transaction { [key, holder, expiry] changes in
            guard try changes.string(for: key) == holder else { return }
            try changes.set(holder, for: key, expires: expiry)
        }
    }

    /// A lease that cannot be given back runs out, so that is no failure of the refresh.
    private func giveBack() async {
        _ = try? await leases.transaction { [key, holder] changes in
            // A transaction: the last renewal may be under way.
            if try changes.string(for: key) == holder { changes.remove(key) }
        }
    }
}
