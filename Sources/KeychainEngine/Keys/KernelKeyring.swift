internal import CKeychainLinux
internal import Foundation
internal import Glibc
internal import KeychainModel

/// The keyring that the kernel keeps for each user: what one process puts there, every process of the user reads
/// until it is removed, and no other user does (user-keyring(7)).
struct KernelKeyring: Sendable {
    /// nil if the kernel refuses keyrings here, as many containers make it do.
    static let ofUser: KernelKeyring? = ckeychain_keyring_check() == 0 ? KernelKeyring() : nil

    /// Puts a key there, or gives the one of that name another content: whoever reads meanwhile gets the one or the other.
    ///
    /// - Parameter lifetime: Seconds; nil: until removed.
    func put(_ bytes: Data, as name: String, lifetime: Int?) throws(KeychainError) {
        let seconds = UInt32(clamping: lifetime ?? 0)
        let failure = bytes.withUnsafeBytes { bytes -> Int32 in
            // Never empty: sealed keys have a tag at least.
            let start = bytes.baseAddress!
            if let serial = find(name), ckeychain_keyring_update(serial, start, bytes.count, seconds) == 0 { return 0 }
            var failure: Int32 = 0
            // Removed keys count against the quota until the kernel has time for them: 50 ms, after thousands of them.
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

    /// nil: there is none of that name, or none any more.
    func find(_ name: String) -> Int32? {
        var serial: Int32 = 0
        return ckeychain_keyring_find(name, &serial) == 0 ? serial : nil
    }

    /// Calls `body` with a key's bytes; returns nil if it is gone.
    func read<R>(
        _ serial: Int32, capacity: Int, _ body: (UnsafeRawBufferPointer) throws(KeychainError) -> R?
    ) throws(KeychainError) -> R? {
        var result: Result<R?, KeychainError> = .success(nil)
        withUnsafeTemporaryAllocation(byteCount: capacity, alignment: 16) { bytes in
            var count = 0
            guard ckeychain_keyring_read(serial, bytes.baseAddress!, bytes.count, &count) == 0 else { return }
            do throws(KeychainError) {
                result = .success(try body(UnsafeRawBufferPointer(rebasing: bytes[..<count])))
            } catch {
                result = .failure(error)
            }
        }
        return try result.get()
    }

    /// Takes keys from every process, by their names.
    func removeAll(where isMeant: (_ name: String) -> Bool) { removeAll { name, _ in isMeant(name) } }

    func removeAll(where isMeant: (_ name: String, _ serial: Int32) -> Bool) {
        for serial in serials {
            guard let name = name(of: serial), isMeant(name, serial) else { continue }
            // One that is gone meanwhile needs nothing.
            _ = ckeychain_keyring_remove(serial)
        }
    }

    /// The paths of the stores that keys are of, by the names of the keys; nil where the path is not known.
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

    /// nil if the key is gone, or not ours to look at.
    private func name(of serial: Int32) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
            guard ckeychain_keyring_describe(serial, text.baseAddress!, text.count) == 0 else { return nil }
            return String(cString: text.baseAddress!).split(separator: ";", maxSplits: 4).last.map(String.init)
        }
    }

    func setLifetime(of serial: Int32, to seconds: Int?) {
        // A key that is gone needs none.
        _ = ckeychain_keyring_set_timeout(serial, UInt32(clamping: seconds ?? 0))
    }
}
