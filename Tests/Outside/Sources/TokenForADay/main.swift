// A program that stores two secrets for a day and is killed, and one that looks for them: see Tests/Outside/expiry.

import Foundation
import Glibc
import Security
import SwiftKeychain

let keychain = Keychain(service: "com.example.day", accessGroup: "TokenForADay")

func query(_ account: String) -> [CFString: Any] {
    [
        kSecClass: kSecClassGenericPassword, kSecAttrService: "com.example.day", kSecAttrAccount: account,
        kSecAttrAccessGroup: "TokenForADay",
    ]
}

func store() throws {
    try keychain.set("the token of the Swift API", for: "api", expires: .after(hours: 24))
    var item = query("secitem")
    item[kSecValueData] = Data("the token of SecItem".utf8)
    item[kSecAttrExpirationDate] = Date(timeIntervalSinceNow: 86_400)
    guard SecItemAdd(item as CFDictionary, nil) == errSecSuccess else { exit(1) }
    // Nothing that the program would do at its end is needed.
    kill(getpid(), SIGKILL)
}

/// What the Swift API and `SecItem` say of each: its value, or the status.
func look() {
    for account in ["api", "secitem"] {
        do throws(KeychainError) {
            print("api", account, try keychain.string(for: account) ?? "none")
        } catch {
            print("api", account, error.status)
        }
        var result: CFTypeRef?
        let returning = query(account).merging([kSecReturnData: true]) { $1 } as CFDictionary
        let status = SecItemCopyMatching(returning, &result)
        print("secitem", account, (result as? Data).map { String(decoding: $0, as: UTF8.self) } ?? "\(status)")
    }
}

if CommandLine.arguments.dropFirst().first == "store" { try store() } else { look() }
