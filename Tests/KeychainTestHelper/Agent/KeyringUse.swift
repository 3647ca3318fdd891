import CKeychainLinux
import Foundation

/// What keys in the kernel's keyring take of their user's quota.
enum KeyringUse {
    /// Puts so many keys there and removes each, and returns how many bytes stay used.
    static func left(byKeys count: Int) throws -> Int {
        let before = try used()
        for number in 0..<count {
            // Of another name each, as stores have: the next one of the same name would take the place of the last.
            let name = "keychain-test:\(getpid()):\(number)"
            let secret: StaticString = "sealed"
            var serial: Int32 = 0
            guard ckeychain_keyring_put(name, secret.utf8Start, secret.utf8CodeUnitCount, 0) == 0,
                ckeychain_keyring_find(name, &serial) == 0, ckeychain_keyring_remove(serial) == 0,
                ckeychain_keyring_find(name, &serial) != 0
            else { throw HelperFailure("the kernel did not take key \(number), or did not give it back") }
            // An ordinary user has room for 200 keys, and the kernel gives it back when it has time.
            if number % 20 == 19 { try wait { try used().keys < before.keys + 20 } }
        }
        // What the kernel would forget is four bytes for each.
        try wait { try used().bytes < before.bytes + count }
        return try used().bytes - before.bytes
    }

    /// Returns once it is so, or after ten seconds.
    private static func wait(until isSo: () throws -> Bool) throws {
        let end = ContinuousClock.now + .seconds(10)
        while try !isSo(), ContinuousClock.now < end { usleep(10_000) }
    }

    /// From /proc/key-users (proc_key-users(5)); 0 if the user has no keys.
    private static func used() throws -> (keys: Int, bytes: Int) {
        let table = try String(contentsOfFile: "/proc/key-users", encoding: .utf8)
        let line = table.split(separator: "\n").first { $0.drop { $0 == " " }.hasPrefix("\(geteuid()):") }
        guard let line else { return (0, 0) }
        let used = line.split(separator: " ").suffix(2).compactMap { Int($0.split(separator: "/")[0]) }
        guard used.count == 2 else { throw HelperFailure("/proc/key-users reads otherwise: \(line)") }
        return (used[0], used[1])
    }
}
