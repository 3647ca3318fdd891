internal import FoundationEssentials
internal import Glibc

/// The room in the kernel's keyrings for one user (keyrings(7)).
package enum KeyringRoom {
    /// The stores whose keys fill the keyring, if it has no room for another store; nil if it has room, or there is no
    /// keyring.
    package static var storesIfFull: [String]? {
        guard let keyring = KernelKeyring.ofUser, isFull else { return nil }
        return Set(keyring.payloads { $0.hasPrefix("keychain:") }.compactMap(\.self)).sorted()
    }

    /// One key for each tier behind the passcode.
    private static let keysForStore = 3

    /// The line of /proc/key-users is "UID: USAGE KEYS/INSTANTIATED KEYS/MOST BYTES/MOST".
    private static var isFull: Bool {
        guard let text = try? String(contentsOfFile: "/proc/key-users", encoding: .utf8) else { return false }
        let lines = text.split(separator: "\n").map { $0.split(separator: " ") }
        guard let own = lines.first(where: { $0.first == "\(getuid()):" }), own.count == 5 else { return false }
        func room(_ field: Substring) -> Int? {
            let numbers = field.split(separator: "/").compactMap { Int($0) }
            return numbers.count == 2 ? numbers[1] - numbers[0] : nil
        }
        guard let keys = room(own[3]), let bytes = room(own[4]) else { return false }
        return keys < keysForStore || bytes < keysForStore * leastBytes
    }

    /// The bytes for the keys of one tier, with the place of their store and their name.
    private static let leastBytes = 512
}
