import Foundation
import KeychainBiometry
import KeychainClient
import KeychainLocalAuthentication
import KeychainModel
import KeychainPrompt
import KeychainSecurity
import KeychainTestSupport
import SwiftKeychain
import Testing

/// What programs for Apple's systems do with fingers, as tutorials show it, against the real fprintd with a virtual reader,
/// and with the passcode, against a pinentry.
@Suite("Listings that ask for a finger or the passcode", .serialized)
struct BiometricListingTests {
    private static let secret = Data("test_strong_password".utf8)

    @Test(
        "The right finger gets the secret, the wrong one is refused, and after a new one is enrolled the item is gone",
        arguments: KeychainHost.carriers)
    func fingers(host: KeychainHost) async throws {
        let fingerprints = try VirtualFingerprints()
        defer { fingerprints.stop() }
        var limits = FingerprintLimits()
        limits.attempts = 1
        let reader = FingerprintReader(busAddress: fingerprints.busAddress, limits: limits)
        try fingerprints.enrol("right-index-finger", seen: "mine")
        try await withKeychain(host, biometry: reader) { keychain in
            try keychain.setPasscode("1234")
            try save(Self.secret, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, .biometryCurrentSet)
            // Saving is deleting and adding, and asks nobody.
            try save(Self.secret, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, .biometryCurrentSet)
            try fingerprints.touch("mine")
            #expect(try await load() == Self.secret)
            try fingerprints.touch("foreign")
            await #expect(throws: Failure(status: errSecAuthFailed)) { try await load() }
            #expect(try domainState() == domainState())
            let before = try domainState()
            try fingerprints.enrol("left-thumb", seen: "added")
            #expect(try domainState() != before)
            await #expect(throws: Failure(status: errSecItemNotFound)) { try await load() }
            try save(Self.secret, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, .biometryCurrentSet)
            try fingerprints.touch("added")
            #expect(try await load() == Self.secret)
        }
    }

    @Test(
        "Without a finger nothing is stored for one, and the program is told so before",
        arguments: KeychainHost.carriers)
    func nobodyEnrolled(host: KeychainHost) async throws {
        let fingerprints = try VirtualFingerprints()
        defer { fingerprints.stop() }
        let reader = FingerprintReader(busAddress: fingerprints.busAddress)
        try await withKeychain(host, biometry: reader) { _ in
            #expect(throws: Failure(status: errSecAuthFailed)) {
                try save(Self.secret, kSecAttrAccessibleWhenUnlocked, .biometryCurrentSet)
            }
            await #expect(throws: Failure(status: errSecNotAvailable)) { try await load() }
        }
    }

    @Test(
        "With the passcode: pinentry is asked, the right one gets the secret, and cancelling is told",
        arguments: KeychainHost.carriers)
    func passcode(host: KeychainHost) async throws {
        try await withKeychain(host) { keychain in
            try keychain.setPasscode("1234")
            try save(Self.secret, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, .devicePasscode)
            for (answer, status) in [
                ("D 1234\\nOK", errSecSuccess), ("ERR 83886179 cancelled", errSecUserCanceled),
                ("D wrong\\nOK", errSecAuthFailed),
            ] {
                let program = keychain.directory.appendingPathComponent("pinentry")
                try Self.pinentry(answering: answer).write(to: program, atomically: true, encoding: .utf8)
                try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: program.path)
                let configuration = PromptConfiguration(variables: ["KEYCHAIN_PINENTRY": program.path])
                let connection = Connection(
                    engine: keychain.handler, caller: Caller(groups: ["G1"]), prompter: SystemPrompter(configuration))
                let outcome = await Connection.$override.withValue(connection) {
                    await Result.of { try await load(askingForFinger: false) }
                }
                #expect(
                    outcome == (status == errSecSuccess ? .success(Self.secret) : .failure(Failure(status: status))))
            }
        }
    }

    /// The program that shows a dialog, with somebody at it who always answers the same.
    private static func pinentry(answering answer: String) -> String {
        """
        #!/bin/sh
        echo "OK ready"
        while read -r line; do
            case "$line" in
            GETPIN*) printf '\(answer)\\n' ;;
            BYE*) echo OK && exit 0 ;;
            *) echo OK ;;
            esac
        done
        """
    }

    // MARK: The programs

    struct Failure: Error, Equatable { var status: OSStatus }

    private func save(_ data: Data, _ protection: CFString, _ flags: SecAccessControlCreateFlags) throws {
        let access = SecAccessControlCreateWithFlags(nil, protection, flags, nil)
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: "com.example.vault",
            kSecAttrAccount as String: "ada",
            kSecValueData as String: data,
            kSecAttrAccessControl as String: access as Any,
        ]
        SecItemDelete(query as CFDictionary)
        let status = SecItemAdd(query as CFDictionary, nil)
        guard status == errSecSuccess else { throw Failure(status: status) }
    }

    private func load(askingForFinger: Bool = true) async throws -> Data {
        let context = LAContext()
        var error: NSError?
        if askingForFinger {
            guard context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error) else {
                throw Failure(status: errSecNotAvailable)
            }
        }
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: "com.example.vault",
            kSecAttrAccount as String: "ada",
            kSecReturnData as String: true,
            kSecUseOperationPrompt as String: "to open your vault",
        ]
        return try await withCheckedThrowingContinuation { continuation in
            var result: AnyObject?
            let status = SecItemCopyMatching(query as CFDictionary, &result)
            if status == errSecSuccess, let data = result as? Data {
                continuation.resume(returning: data)
            } else {
                continuation.resume(throwing: Failure(status: status))
            }
        }
    }

    private func domainState() throws -> Data {
        let context = LAContext()
        guard context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil) else {
            throw Failure(status: errSecNotAvailable)
        }
        return try #require(context.evaluatedPolicyDomainState)
    }
}

extension Result where Success == Data, Failure == BiometricListingTests.Failure {
    fileprivate static func of(_ body: () async throws -> Data) async -> Self {
        do {
            return .success(try await body())
        } catch let failure as BiometricListingTests.Failure {
            return .failure(failure)
        } catch {
            return .failure(BiometricListingTests.Failure(status: errSecInternalComponent))
        }
    }
}
