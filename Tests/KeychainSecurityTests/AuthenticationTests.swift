import Foundation
import KeychainClient
import KeychainEngine
import KeychainLocalAuthentication
import KeychainModel
import KeychainSecurity
import KeychainTestSupport
import SwiftKeychain
import Testing

/// What programs see of items that ask for authentication, on every host.
@Suite("Items that ask for authentication")
struct AuthenticationTests {
    private static let secret = Data("only for me".utf8)
    private static let passcode = "1234"

    // MARK: Passcode

    @Test(
        "T10.18 An item behind the passcode opens for the right one, is refused for a wrong one, and cancelling is neither",
        arguments: KeychainHost.allCases)
    func passcodeItem(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            try keychain.setPasscode(Self.passcode)
            #expect(add(.devicePasscode) == errSecSuccess)
            keychain.prompter.answer(.text(Self.passcode))
            #expect(read() == .init(errSecSuccess, Self.secret))
            keychain.prompter.answer(.fail(.declined))
            #expect(read() == .init(errSecUserCanceled))
            keychain.prompter.answer(.text("wrong"), .text("wrong again"), .text(Self.passcode))
            #expect(read() == .init(errSecSuccess, Self.secret))
            let questions = keychain.prompter.questions
            #expect(questions.count == 5)
            #expect(questions[2].complaint == nil)
            #expect(questions[3].complaint?.contains("wrong") == true)
            #expect(questions.allSatisfy { $0.wanted == .passcode && !$0.program.isEmpty })
        }
    }

    @Test(
        "After three wrong passcodes a call gives up, and after five in a row none is asked for",
        arguments: KeychainHost.allCases)
    func throttling(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            try keychain.setPasscode(Self.passcode)
            #expect(add(.userPresence) == errSecSuccess)
            keychain.prompter.answer(.text("a"), .text("b"), .text("c"), .text("never asked for"))
            #expect(read() == .init(errSecAuthFailed))
            #expect(keychain.prompter.questions.count == 3)
            #expect(try keychain.lockStatus.failedAttempts == 3)
            keychain.prompter.answer(.text("e"))
            #expect(read() == .init(errSecAuthFailed))
            #expect(try keychain.lockStatus.failedAttempts == 5)
            let count = keychain.prompter.questions.count
            keychain.prompter.answer(.text(Self.passcode))
            #expect(read() == .init(errSecAuthFailed))
            #expect(keychain.prompter.questions.count == count + 1)
            #expect(try keychain.lockStatus.failedAttempts == 5)
            keychain.clock.advance(by: 61)
            keychain.prompter.answer(.text(Self.passcode))
            #expect(read() == .init(errSecSuccess, Self.secret))
        }
    }

    @Test(
        "A secret behind the passcode cannot be opened with all keys of an unlocked store",
        arguments: KeychainHost.carriers)
    func passcodeIsPartOfTheKey(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            try keychain.setPasscode(Self.passcode)
            #expect(add(.devicePasscode, account: "sealed") == errSecSuccess)
            #expect(add(.userPresence, account: "asked") == errSecSuccess)
            // What opens everything that is sealed under class keys alone.
            let opened = try keychain.engine.openingEverySecretItCan()
            #expect(opened == ["asked"])
        }
    }

    @Test(
        "A changed passcode opens what was stored before, also after all keys were renewed",
        arguments: KeychainHost.carriers)
    func changedPasscode(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            try keychain.setPasscode(Self.passcode)
            #expect(add(.devicePasscode) == errSecSuccess)
            #expect(add([.devicePasscode, .applicationPassword], account: "both", password: "pw") == errSecSuccess)
            for (old, new, rekey) in [(Self.passcode, "5678", false), ("5678", "9012", true)] {
                try keychain.handler.changePasscode(from: old, to: new, rekey: rekey)
                keychain.prompter.answer(.text(new))
                #expect(read() == .init(errSecSuccess, Self.secret))
                keychain.prompter.answer(.text(new))
                #expect(read("both", password: "pw") == .init(errSecSuccess, Self.secret))
            }
        }
    }

    @Test("Removing the passcode takes what was sealed with it along", arguments: KeychainHost.carriers)
    func removedPasscode(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            try keychain.setPasscode(Self.passcode)
            #expect(add(.devicePasscode) == errSecSuccess)
            #expect(
                add(.devicePasscode, account: "akpu", kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly) == errSecSuccess)
            #expect(add(.userPresence, account: "asked") == errSecSuccess)
            _ = try keychain.handler.handle(.passcode(.remove(old: .of(Self.passcode))), from: .owner)
            #expect(read() == .init(errSecItemNotFound))
            #expect(read("akpu") == .init(errSecItemNotFound))
            // There is nobody and nothing left that could be asked for.
            #expect(read("asked") == .init(errSecAuthFailed))
            #expect(add(.devicePasscode) == errSecAuthFailed)
            try keychain.setPasscode("another")
            keychain.prompter.answer(.text("another"))
            #expect(read("asked") == .init(errSecSuccess, Self.secret))
            #expect(add(.devicePasscode) == errSecSuccess)
        }
    }

    @Test("A locked item is refused before anybody is asked", arguments: KeychainHost.allCases)
    func locked(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            try keychain.setPasscode(Self.passcode)
            #expect(add(.devicePasscode) == errSecSuccess)
            try keychain.lock(.now)
            #expect(read() == .init(errSecInteractionNotAllowed))
            #expect(keychain.prompter.questions.isEmpty)
        }
    }

    // MARK: Biometry

    @Test(
        "T10.19 The right finger gets the secret, the wrong one does not, and a newly enrolled one makes the item go",
        arguments: KeychainHost.allCases)
    func currentSet(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            #expect(add(.biometryCurrentSet) == errSecAuthFailed)
            keychain.reader.enroll(1, 2)
            #expect(add(.biometryCurrentSet) == errSecSuccess)
            keychain.reader.touch(1)
            #expect(read() == .init(errSecSuccess, Self.secret))
            keychain.reader.touch(7)
            #expect(read() == .init(errSecAuthFailed))
            keychain.reader.enroll(1, 2, 3)
            #expect(read() == .init(errSecItemNotFound))
            #expect(keychain.reader.lookCount == 2)
            #expect(update() == errSecItemNotFound)
            guard case .checked(let findings) = try keychain.handler.handle(.check, from: .owner) else {
                Issue.record("another reply")
                return
            }
            #expect(findings.contains { $0.text.contains("1 item was stored for the fingers or faces") })
            #expect(add(.biometryCurrentSet) == errSecSuccess)
            keychain.reader.touch(3)
            #expect(read() == .init(errSecSuccess, Self.secret))
        }
    }

    @Test("An item for the enrolled fingers is gone when the last of them is", arguments: KeychainHost.allCases)
    func noneEnrolled(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            keychain.reader.enroll(1)
            #expect(add(.biometryCurrentSet) == errSecSuccess)
            keychain.reader.enroll()
            #expect(read() == .init(errSecItemNotFound))
        }
    }

    @Test("Any finger opens an item for any finger, also one that was enrolled later", arguments: KeychainHost.allCases)
    func anyFinger(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            keychain.reader.enroll(1)
            #expect(add(.biometryAny) == errSecSuccess)
            keychain.reader.enroll(1, 9)
            keychain.reader.touch(9)
            #expect(read() == .init(errSecSuccess, Self.secret))
        }
    }

    @Test(
        "Presence is shown by a finger, or by the passcode if the person prefers or the finger is unknown",
        arguments: KeychainHost.allCases)
    func presence(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            try keychain.setPasscode(Self.passcode)
            keychain.reader.enroll(1)
            #expect(add(.userPresence) == errSecSuccess)
            keychain.reader.touch(1)
            #expect(read() == .init(errSecSuccess, Self.secret))
            keychain.reader.touch(7)
            keychain.prompter.answer(.text(Self.passcode))
            #expect(read() == .init(errSecSuccess, Self.secret))
            keychain.prompter.answerNotices(with: nil)
            keychain.prompter.answer(.text(Self.passcode))
            #expect(read() == .init(errSecSuccess, Self.secret))
            keychain.prompter.answerNotices(with: .declined)
            #expect(read() == .init(errSecUserCanceled))
            #expect(keychain.prompter.notices.allSatisfy { $0.fallbackTitle != nil })
        }
    }

    @Test("After five unknown fingers the passcode is wanted first", arguments: KeychainHost.allCases)
    func lockout(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            try keychain.setPasscode(Self.passcode)
            keychain.reader.enroll(1)
            #expect(add(.biometryAny) == errSecSuccess)
            #expect(add(.userPresence, account: "asked") == errSecSuccess)
            for _ in 0..<5 {
                keychain.reader.touch(7)
                #expect(read() == .init(errSecAuthFailed))
            }
            keychain.reader.touch(1)
            #expect(read() == .init(errSecAuthFailed))
            #expect(keychain.reader.lookCount == 5)
            keychain.prompter.answer(.text(Self.passcode))
            #expect(read("asked") == .init(errSecSuccess, Self.secret))
            #expect(read() == .init(errSecSuccess, Self.secret))
        }
    }

    @Test("Both of two constraints are asked for, and one of either", arguments: KeychainHost.allCases)
    func combinations(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            try keychain.setPasscode(Self.passcode)
            keychain.reader.enroll(1)
            #expect(add([.biometryAny, .and, .devicePasscode], account: "both") == errSecSuccess)
            #expect(add([.biometryAny, .or, .devicePasscode], account: "either") == errSecSuccess)
            keychain.reader.touch(1)
            keychain.prompter.answer(.text(Self.passcode))
            #expect(read("both") == .init(errSecSuccess, Self.secret))
            keychain.reader.touch(1)
            keychain.prompter.answer(.fail(.declined))
            #expect(read("both") == .init(errSecUserCanceled))
            keychain.reader.touch(1)
            #expect(read("either") == .init(errSecSuccess, Self.secret))
            keychain.reader.touch(7)
            keychain.prompter.answer(.text(Self.passcode))
            #expect(read("either") == .init(errSecSuccess, Self.secret))
        }
    }

    // MARK: Application passwords

    @Test("A password of the program's is part of the key, and wrong ones count", arguments: KeychainHost.allCases)
    func applicationPassword(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            #expect(add(.applicationPassword) == errSecInteractionNotAllowed)
            #expect(add(.applicationPassword, password: "pw") == errSecSuccess)
            #expect(read(password: "pw") == .init(errSecSuccess, Self.secret))
            #expect(read(password: "other") == .init(errSecAuthFailed))
            #expect(read(password: "other") == .init(errSecAuthFailed))
            #expect(read() == .init(errSecInteractionNotAllowed))
            keychain.prompter.answer(.text("pw"))
            #expect(read() == .init(errSecSuccess, Self.secret))
            for number in 0..<5 { #expect(read(password: "guess \(number)") == .init(errSecAuthFailed)) }
            // Five different ones: now even the right one has to wait.
            #expect(read(password: "pw") == .init(errSecAuthFailed))
            keychain.clock.advance(by: 61)
            #expect(read(password: "pw") == .init(errSecSuccess, Self.secret))
            // Who knows one password, that of an item of its own for instance, has no free guesses at others.
            #expect(add(.applicationPassword, account: "own", password: "mine") == errSecSuccess)
            #expect(read("own", password: "mine") == .init(errSecSuccess, Self.secret))
            #expect(read(password: "one more guess") == .init(errSecAuthFailed))
            #expect(read("own", password: "mine") == .init(errSecAuthFailed))
            keychain.clock.advance(by: 61)
            #expect(read("own", password: "mine") == .init(errSecSuccess, Self.secret))
        }
    }

    @Test(
        "What is typed and can be no passcode is wrong, is not counted, and is asked for again",
        arguments: KeychainHost.carriers)
    func impossiblePasscode(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            try keychain.setPasscode(Self.passcode)
            #expect(add(.devicePasscode) == errSecSuccess)
            keychain.prompter.answer(.text(""), .text(String(repeating: "x", count: 2_000)), .text(Self.passcode))
            #expect(read() == .init(errSecSuccess, Self.secret))
            keychain.prompter.answer(.text(""), .text(""), .text(""))
            #expect(read() == .init(errSecAuthFailed))
            #expect(try keychain.lockStatus.failedAttempts == 0)
            keychain.prompter.answer(.text(""))
            #expect(add(.applicationPassword, account: "empty") == errSecAuthFailed)
        }
    }

    @Test(
        "An access control that comes from an item is bound anew to what is enrolled", arguments: KeychainHost.carriers)
    func boundAnew(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            keychain.reader.enroll(1)
            #expect(add(.biometryCurrentSet) == errSecSuccess)
            var query = query("ada")
            query[kSecReturnAttributes as String] = true
            keychain.reader.touch(1)
            var result: CFTypeRef?
            #expect(SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess)
            let control = (result as? [String: Any])?[kSecAttrAccessControl as String]
            keychain.reader.enroll(1, 2)
            var copy = self.query("copy")
            copy[kSecAttrAccessControl as String] = try #require(control as? SecAccessControl)
            copy[kSecValueData as String] = Self.secret
            #expect(SecItemAdd(copy as CFDictionary, nil) == errSecSuccess)
            keychain.reader.touch(2)
            #expect(read("copy") == .init(errSecSuccess, Self.secret))
        }
    }

    // MARK: Contexts

    @Test("What a context was shown serves later calls, until it is invalidated", arguments: KeychainHost.allCases)
    func contextIsReused(host: KeychainHost) async throws {
        try await withKeychain(host) { keychain in
            try keychain.setPasscode(Self.passcode)
            keychain.reader.enroll(1)
            #expect(add(.biometryAny, account: "finger") == errSecSuccess)
            #expect(add(.devicePasscode, account: "passcode") == errSecSuccess)
            let context = LAContext()
            keychain.reader.touch(1)
            #expect(try await context.evaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, localizedReason: "test"))
            #expect(read("finger", context) == .init(errSecSuccess, Self.secret))
            #expect(read("finger", context, kSecUseAuthenticationUIFail) == .init(errSecSuccess, Self.secret))
            #expect(keychain.reader.lookCount == 1)
            // A finger is no passcode.
            #expect(read("passcode", context, kSecUseAuthenticationUIFail) == .init(errSecInteractionNotAllowed))
            keychain.prompter.answer(.text(Self.passcode))
            #expect(read("passcode", context) == .init(errSecSuccess, Self.secret))
            #expect(read("passcode", context) == .init(errSecSuccess, Self.secret))
            #expect(keychain.prompter.questions.count == 1)
            context.invalidate()
            #expect(read("finger", context) == .init(errSecInteractionNotAllowed))
            #expect(read("passcode", context) == .init(errSecInteractionNotAllowed))
        }
    }

    @Test("What a finger has shown ends after five minutes, and with the lock", arguments: KeychainHost.allCases)
    func ticketsEnd(host: KeychainHost) async throws {
        try await withKeychain(host) { keychain in
            try keychain.setPasscode(Self.passcode)
            keychain.reader.enroll(1)
            #expect(add(.biometryAny) == errSecSuccess)
            let context = LAContext()
            keychain.reader.touch(1)
            #expect(try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "test"))
            keychain.clock.advance(by: 299)
            #expect(read("ada", context, kSecUseAuthenticationUIFail) == .init(errSecSuccess, Self.secret))
            keychain.clock.advance(by: 2)
            #expect(read("ada", context, kSecUseAuthenticationUIFail) == .init(errSecInteractionNotAllowed))
            keychain.reader.touch(1)
            #expect(read("ada", context) == .init(errSecSuccess, Self.secret))
            try keychain.lock(.now)
            try keychain.unlock(Self.passcode)
            #expect(read("ada", context, kSecUseAuthenticationUIFail) == .init(errSecInteractionNotAllowed))
        }
    }

    @Test("An answer that comes after the context was invalidated is worth nothing", arguments: KeychainHost.allCases)
    func lateAnswer(host: KeychainHost) async throws {
        try await withKeychain(host) { keychain in
            try keychain.setPasscode(Self.passcode)
            #expect(add(.devicePasscode) == errSecSuccess)
            let context = LAContext()
            keychain.prompter.answer(.late(Self.passcode))
            async let evaluation = code {
                try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "test")
            }
            while keychain.prompter.questions.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
            context.invalidate()
            #expect(await evaluation == .invalidContext)
            #expect(!context.session.hasApplicationPassword)
            #expect(read("ada", context) == .init(errSecInteractionNotAllowed))
        }
    }

    @Test("Invalidating a context ends the waiting at the reader", arguments: KeychainHost.allCases)
    func cancelledReader(host: KeychainHost) async throws {
        try await withKeychain(host) { keychain in
            keychain.reader.enroll(1)
            let context = LAContext()
            async let evaluation = code {
                try await context.evaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, localizedReason: "test")
            }
            while !keychain.reader.isWaitedFor { try await Task.sleep(for: .milliseconds(1)) }
            context.invalidate()
            #expect(await evaluation == .appCancel)
            while keychain.reader.isWaitedFor { try await Task.sleep(for: .milliseconds(1)) }
        }
    }

    @Test("Each policy says by its own code why it cannot be evaluated", arguments: KeychainHost.allCases)
    func policies(host: KeychainHost) async throws {
        try await withKeychain(host) { keychain in
            func obstacle(_ policy: LAPolicy) -> LAError.Code? {
                var error: NSError?
                let can = LAContext().canEvaluatePolicy(policy, error: &error)
                return can ? nil : (error as? LAError)?.code
            }
            #expect(obstacle(.deviceOwnerAuthenticationWithBiometrics) == .biometryNotAvailable)
            #expect(LAContext().biometryType == .none)
            #expect(obstacle(.deviceOwnerAuthenticationWithCompanion) == .companionNotAvailable)
            keychain.reader.enroll()
            #expect(obstacle(.deviceOwnerAuthenticationWithBiometrics) == .biometryNotEnrolled)
            #expect(LAContext().biometryType == .touchID)
            #expect(obstacle(.deviceOwnerAuthentication) == .passcodeNotSet)
            try keychain.setPasscode(Self.passcode)
            #expect(obstacle(.deviceOwnerAuthentication) == nil)
            keychain.reader.enroll(1)
            #expect(obstacle(.deviceOwnerAuthenticationWithBiometricsOrCompanion) == nil)
            for _ in 0..<5 {
                keychain.reader.touch(7)
                let failure = await code {
                    try await LAContext().evaluatePolicy(
                        .deviceOwnerAuthenticationWithBiometrics, localizedReason: "test")
                }
                #expect(failure == .authenticationFailed)
            }
            #expect(obstacle(.deviceOwnerAuthenticationWithBiometrics) == .biometryLockout)
            keychain.prompter.answer(.fail(.declined))
            let declined = await code {
                try await LAContext().evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "test")
            }
            #expect(declined == .userCancel)
        }
    }

    @Test("The domain state changes with what is enrolled", arguments: KeychainHost.allCases)
    func domainState(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            let context = LAContext()
            #expect(context.evaluatedPolicyDomainState == nil)
            keychain.reader.enroll(1)
            #expect(context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil))
            let first = context.evaluatedPolicyDomainState
            keychain.reader.enroll(1, 2)
            #expect(context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil))
            #expect(first != nil)
            #expect(context.evaluatedPolicyDomainState != first)
        }
    }

    @Test(
        "An access control is evaluated for its own factors, and its reason and titles are shown",
        arguments: KeychainHost.allCases)
    func accessControl(host: KeychainHost) async throws {
        try await withKeychain(host) { keychain in
            try keychain.setPasscode(Self.passcode)
            let control = try #require(
                SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .devicePasscode, nil))
            let context = LAContext()
            context.localizedCancelTitle = "Not now"
            keychain.prompter.answer(.text(Self.passcode))
            #expect(
                try await context.evaluateAccessControl(control, operation: .useItem, localizedReason: "to show it"))
            let question = try #require(keychain.prompter.questions.first)
            #expect(question.reason == "to show it")
            #expect(question.cancelTitle == "Not now")
            #expect(try await context.evaluateAccessControl(control, operation: .createItem, localizedReason: ""))
            let key = await code {
                try await context.evaluateAccessControl(control, operation: .useKeySign, localizedReason: "")
            }
            #expect(key == .notInteractive)
        }
    }

    @Test(
        "No evaluation says that a password of the program's own is right, and nobody is asked for one",
        arguments: KeychainHost.allCases)
    func applicationPasswordAlone(host: KeychainHost) async throws {
        try await withKeychain(host) { keychain in
            try keychain.setPasscode(Self.passcode)
            for flags: SecAccessControlCreateFlags in [.applicationPassword, [.devicePasscode, .applicationPassword]] {
                let control = try #require(
                    SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, flags, nil))
                for isSet in [false, true] {
                    let context = LAContext()
                    if isSet { #expect(context.setCredential(Data("any".utf8), type: .applicationPassword)) }
                    let failure = await code {
                        try await context.evaluateAccessControl(control, operation: .useItem, localizedReason: "")
                    }
                    #expect(failure == .notInteractive)
                    #expect(keychain.prompter.questions.isEmpty)
                    #expect(
                        try await context.evaluateAccessControl(control, operation: .createItem, localizedReason: ""))
                }
            }
        }
    }

    @Test("The prompt of a query is shown, and one of a context where there is none", arguments: KeychainHost.carriers)
    func wording(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            try keychain.setPasscode(Self.passcode)
            #expect(add(.devicePasscode) == errSecSuccess)
            let context = LAContext()
            context.localizedReason = "of the context"
            keychain.prompter.answer(.text(Self.passcode), .text(Self.passcode))
            var query = query("ada")
            query[kSecUseOperationPrompt as String] = "of the query"
            #expect(SecItemCopyMatching(query as CFDictionary, nil) == errSecSuccess)
            #expect(read("ada", context).status == errSecSuccess)
            #expect(keychain.prompter.questions.map(\.reason) == ["of the query", "of the context"])
        }
    }

    // MARK: Helpers

    struct Found: Equatable {
        var status: OSStatus
        var secret: Data?
        init(_ status: OSStatus, _ secret: Data? = nil) { (self.status, self.secret) = (status, secret) }
    }

    private func query(_ account: String) -> [String: Any] {
        [kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: account]
    }

    private func context(_ password: String?) -> LAContext? {
        guard let password else { return nil }
        let context = LAContext()
        #expect(context.setCredential(Data(password.utf8), type: .applicationPassword))
        #expect(context.isCredentialSet(.applicationPassword))
        return context
    }

    private func add(
        _ flags: SecAccessControlCreateFlags, account: String = "ada", password: String? = nil,
        _ protection: CFString = kSecAttrAccessibleWhenUnlocked
    ) -> OSStatus {
        var item = query(account)
        item[kSecAttrAccessControl as String] = SecAccessControlCreateWithFlags(nil, protection, flags, nil)
        item[kSecValueData as String] = Self.secret
        if let context = context(password) { item[kSecUseAuthenticationContext as String] = context }
        return SecItemAdd(item as CFDictionary, nil)
    }

    private func update() -> OSStatus {
        SecItemUpdate(query("ada") as CFDictionary, [kSecAttrLabel as String: "new"] as CFDictionary)
    }

    private func read(
        _ account: String = "ada", _ context: LAContext? = nil, _ userInterface: CFString? = nil
    ) -> Found {
        var query = query(account)
        query[kSecReturnData as String] = true
        if let context { query[kSecUseAuthenticationContext as String] = context }
        if let userInterface { query[kSecUseAuthenticationUI as String] = userInterface }
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        return Found(status, result as? Data)
    }

    private func read(_ account: String = "ada", password: String) -> Found { read(account, context(password)) }
}

/// How an evaluation ended; nil: well.
private func code(_ evaluation: () async throws -> Bool) async -> LAError.Code? {
    do {
        return try await evaluation() ? nil : .authenticationFailed
    } catch {
        return (error as? LAError)?.code
    }
}
