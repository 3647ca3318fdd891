internal import CKeychainLinux
internal import FoundationEssentials
internal import Glibc
internal import KeychainModel

/// The kernel's keyring of a user: every process of the user reads a key there until it is removed, and no other user
/// does (user-keyring(7)).
struct KernelKeyring: Sendable {
    /// nil if the kernel refuses keyrings, as in many containers.
    static let ofUser: KernelKeyring? = ckeychain_keyring_check() == 0 ? KernelKeyring() : nil

    /// Puts a key into the keyring, or replaces the content of the key with that name. A reader gets the old content or
    /// the new one.
    ///
    /// - Parameter lifetime: Seconds; nil: until the key is removed.
    func put(_ bytes: Data, as name: String, lifetime: Int?) throws(KeychainError) {
        let seconds = UInt32(clamping: lifetime ?? 0)
        let failure = bytes.withUnsafeBytes { bytes -> Int32 in
            // The bytes are never empty: sealed keys have a tag at least.
            let start = bytes.baseAddress!
            if let serial = find(name), ckeychain_keyring_update(serial, start, bytes.count, seconds) == 0 { return 0 }
            var failure: Int32 = 0
            // Removed keys count against the quota until the kernel clears them away: 50 ms, after thousands of them.
            for attempt in 0..<100 {
                if attempt > 0 { usleep(10_000) }
                failure = ckeychain_keyring_put(name, start, bytes.count, seconds)
                if failure != EDQUOT { break }
            }
            return failure
        }
        guard failure == 0 else {
            throw KeychainError(
                .notAvailable,
                message: "the kernel's keyring did not take the keys (\(String(cString: strerror(failure))))",
                signal: failure == EDQUOT ? .fullKeyring : nil)
        }
    }

    /// nil if there is no key of that name.
    func find(_ name: String) -> Int32? {
        var serial: Int32 = 0
        return ckeychain_keyring_find(name, &serial) == 0 ? serial : nil
    }

    /// Calls `body` with a key's bytes; returns nil if the key is gone.
    func read<R>(
        _ serial: Int32, capacity: Int, _ body: (UnsafeRawBufferPointer) throws(KeychainError) -> R?
    ) throws(KeychainError) -> R? {
        try withUnsafeTemporaryAllocation(byteCount: capacity, alignment: 16) { bytes -> Result<R?, KeychainError> in
            var count = 0
            guard ckeychain_keyring_read(serial, bytes.baseAddress!, bytes.count, &count) == 0 else {
                return .success(nil)
            }
            return Result { () throws(KeychainError) in try body(UnsafeRawBufferPointer(rebasing: bytes[..<count])) }
        }.get()
    }

    /// Removes keys by their names, for every process.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    func removeAll(where isMeant: (_ name: String) -> Bool) -> Bool { removeAll { name, _ in isMeant(name) } }

    @discardableResult
    func removeAll(where isMeant: (_ name: String, _ serial: Int32) -> Bool) -> Bool {
        var hadOne = false
        for serial in serials {
            guard let name = name(of: serial), isMeant(name, serial) else { continue }
            // A key that is gone meanwhile needs no removal.
            if ckeychain_keyring_remove(serial) == 0 { hadOne = true }
        }
        return hadOne
    }

    /// The paths of the stores of the keys with such names; nil for an unknown path.
    func payloads(where isMeant: (_ name: String) -> Bool) -> [String?] {
        serials.compactMap { serial in
            guard let name = name(of: serial), isMeant(name) else { return nil }
            let path: String?? = try? read(serial, capacity: KeyringPayload.mostBytes) { KeyringPayload($0)?.path }
            return .some(path ?? nil)
        }
    }

    private var serials: [Int32] {
        var capacity = 256
        while true {
            var count = 0
            let serials = [Int32](unsafeUninitializedCapacity: capacity) { buffer, filled in
                let failure = ckeychain_keyring_list(buffer.baseAddress!, capacity, &count)
                filled = failure == 0 ? min(count, capacity) : 0
            }
            if count <= capacity { return serials }
            capacity = count * 2
        }
    }

    /// nil if the key is gone, or not accessible.
    private func name(of serial: Int32) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
            guard ckeychain_keyring_describe(serial, text.baseAddress!, text.count) == 0 else { return nil }
            return String(cString: text.baseAddress!).split(separator: ";", maxSplits: 4).last.map(String.init)
        }
    }

    func setLifetime(of serial: Int32, to seconds: Int?) {
        // A key that is gone needs no lifetime.
        _ = ckeychain_keyring_set_timeout(serial, UInt32(clamping: seconds ?? 0))
    }
}
