// The forms of the API that depend on how Swift infers errors and overloads, in language mode 5. The programs have them in
// mode 6.

import DataProtection
import Foundation
import SwiftKeychain

struct Session {
    @Keychained("token", in: Keychain(service: "com.example.session")) var token: String?
    @Keychained("flag", in: Keychain(service: "com.example.session")) var flag = false
}

final class Account {
    @Keychained var token: String?
    @Keychained var count: Int

    init(_ keychain: Keychain) {
        _token = Keychained("token", in: keychain)
        _count = Keychained(wrappedValue: 0, "count", in: keychain)
    }

    func change() {
        token?.append("x")
        count += 1
        token = nil
    }
}

func patterns(_ keychain: Keychain, _ files: ProtectedFiles) throws -> Bool {
    do {
        let text = try keychain.string(for: "a") ?? ""
        try files.write(Data(text.utf8), to: URL(filePath: "a"))
        return true
    } catch KeychainError.interactionNotAllowed, DataProtectionError.locked {
        return false
    }
}

func typed(_ keychain: Keychain) throws(KeychainError) {
    try keychain.transaction { changes throws(KeychainError) in try changes.set("x", for: "k") }
    try keychain.transaction { $0.remove("k") }
    try keychain.modify(String.self, for: "k") { $0 = "y" }
    _ = try keychain.withSecret(for: "k") { $0.count }
    do { _ = try keychain.string(for: "a") } catch .interactionNotAllowed {} catch { throw error }
}

func plain(_ keychain: Keychain) throws {
    let count = try keychain.transaction { changes in
        try changes.set("x", for: "k")
        return try changes.keys().count
    }
    try keychain.modify(Int.self, for: "n") { value in
        guard count > 0 else { throw CancellationError() }
        value = count
    }
    _ = try keychain.withSecret(for: "k") { try JSONDecoder().decode(String.self, from: Data($0)) }
}

func inTask(_ keychain: Keychain) async throws {
    try await keychain.transaction { try $0.set("x", for: "k") }
    try await keychain.transaction { changes in changes.remove("k") }
    try await keychain.modify(Int.self, for: "n") { _ in throw CancellationError() }
    _ = try await keychain.withSecret(for: "k") { try JSONDecoder().decode(String.self, from: Data($0)) }
}
