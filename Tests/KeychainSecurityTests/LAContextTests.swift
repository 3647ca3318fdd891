import KeychainClient
import KeychainLocalAuthentication
import KeychainTestSupport
import SwiftKeychain
import Testing

@Suite("LAContext")
struct LAContextTests {
    private static let obstacles: [(LAPolicy, LAError.Code)] = [
        (.deviceOwnerAuthenticationWithBiometrics, .biometryNotAvailable),
        (.deviceOwnerAuthentication, .passcodeNotSet),
        (.deviceOwnerAuthenticationWithCompanion, .companionNotAvailable),
        (.deviceOwnerAuthenticationWithBiometricsOrCompanion, .biometryNotAvailable),
    ]

    @Test("Without a passcode and a reader no policy can be evaluated, and the error says why", arguments: obstacles)
    func cannotEvaluate(policy: LAPolicy, code: LAError.Code) throws {
        try withKeychain { _ in
            var error: NSError?
            #expect(!LAContext().canEvaluatePolicy(policy, error: &error))
            #expect((error as? LAError)?.code == code)
            #expect(!LAContext().canEvaluatePolicy(policy, error: nil))
        }
    }

    @Test("An evaluation replies once, with false and the error", arguments: obstacles)
    func replies(policy: LAPolicy, code: LAError.Code) async throws {
        try await withKeychain { _ async in
            let (success, error) = await withCheckedContinuation { continuation in
                LAContext().evaluatePolicy(policy, localizedReason: "to test") { success, error in
                    continuation.resume(returning: (success, error))
                }
            }
            #expect(!success)
            #expect((error as? LAError)?.code == code)
        }
    }

    @Test("An awaited evaluation throws the error", arguments: obstacles)
    func throwing(policy: LAPolicy, code: LAError.Code) async throws {
        try await withKeychain { _ async in
            let error = await #expect(throws: LAError.self) {
                try await LAContext().evaluatePolicy(policy, localizedReason: "to test")
            }
            #expect(error?.code == code)
        }
    }

    @Test("After it is invalidated every evaluation fails for that reason", arguments: obstacles.map(\.0))
    func invalidated(policy: LAPolicy) async throws {
        try await withKeychain { _ async in
            let context = LAContext()
            context.invalidate()
            var error: NSError?
            #expect(!context.canEvaluatePolicy(policy, error: &error))
            #expect((error as? LAError)?.code == .invalidContext)
            let thrown = await #expect(throws: LAError.self) {
                try await context.evaluatePolicy(policy, localizedReason: "to test")
            }
            #expect(thrown?.code == .invalidContext)
        }
    }

    @Test("It takes a password of the program's and no PIN, until it is taken away or the context is invalidated")
    func credentials() {
        let context = LAContext()
        #expect(!context.setCredential(Data("1234".utf8), type: .smartCardPIN))
        #expect(!context.isCredentialSet(.smartCardPIN))
        #expect(context.setCredential(Data("secret".utf8), type: .applicationPassword))
        #expect(context.isCredentialSet(.applicationPassword))
        #expect(context.setCredential(nil, type: .applicationPassword))
        #expect(!context.isCredentialSet(.applicationPassword))
        context.invalidate()
        #expect(!context.setCredential(Data("secret".utf8), type: .applicationPassword))
        #expect(!context.isCredentialSet(.applicationPassword))
    }

    @Test("Without a reader it has no biometry")
    func noBiometry() throws {
        try withKeychain { _ in
            let context = LAContext()
            #expect(context.biometryType == .none)
            #expect(context.evaluatedPolicyDomainState == nil)
        }
    }

    @Test("Its properties start as Apple's do and keep what they are set to")
    func properties() {
        let context = LAContext()
        #expect(context.localizedFallbackTitle == nil)
        #expect(context.localizedCancelTitle == nil)
        #expect(context.localizedReason == "")
        #expect(!context.interactionNotAllowed)
        #expect(context.touchIDAuthenticationAllowableReuseDuration == 0)
        context.localizedFallbackTitle = "Enter it"
        context.localizedCancelTitle = "Stop"
        context.localizedReason = "to test"
        context.touchIDAuthenticationAllowableReuseDuration =
            LATouchIDAuthenticationMaximumAllowableReuseDuration
        #expect(context.localizedFallbackTitle == "Enter it")
        #expect(context.localizedCancelTitle == "Stop")
        #expect(context.localizedReason == "to test")
        #expect(context.touchIDAuthenticationAllowableReuseDuration == 300)
    }

    @Test("The keychain sees whether it forbids interaction, and an invalidated one does")
    func forbidsInteraction() throws {
        let context = LAContext()
        let seen = try #require(context as AnyObject as? any AuthenticationContext)
        #expect(!seen.forbidsInteraction)
        context.interactionNotAllowed = true
        #expect(seen.forbidsInteraction)
        context.interactionNotAllowed = false
        context.invalidate()
        #expect(seen.forbidsInteraction)
    }

    @Test("A subclass can stand in for it, and its reply is also what an awaited evaluation returns")
    func subclassing() async throws {
        let mock: LAContext = ReadyContext()
        var error: NSError?
        #expect(mock.canEvaluatePolicy(.deviceOwnerAuthentication, error: &error))
        #expect(try await mock.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "to test"))
    }

    @Test("Equality is identity")
    func equality() {
        let context = LAContext()
        #expect(context == context)
        #expect(context != LAContext())
    }

    @Test("Policies, credential types and biometry types have Apple's numbers")
    func numbers() {
        let policies: [LAPolicy] = [
            .deviceOwnerAuthenticationWithBiometrics, .deviceOwnerAuthentication,
            .deviceOwnerAuthenticationWithWatch, .deviceOwnerAuthenticationWithBiometricsOrWatch,
        ]
        #expect(policies.map(\.rawValue) == [1, 2, 3, 4])
        #expect([LACredentialType.applicationPassword, .smartCardPIN].map(\.rawValue) == [0, -3])
        #expect([LABiometryType.none, .touchID, .faceID, .opticID].map(\.rawValue) == [0, 1, 2, 4])
    }

    @Test("Several threads may use one context")
    func threads() async {
        let context = LAContext()
        await withTaskGroup { group in
            for number in 0..<100 {
                group.addTask {
                    context.localizedReason = "reason \(number)"
                    _ = context.localizedReason
                }
            }
        }
        #expect(context.localizedReason.hasPrefix("reason "))
    }
}

/// What the tests of existing programs do.
private final class ReadyContext: LAContext, @unchecked Sendable {
    override func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool { true }

    override func evaluatePolicy(
        _ policy: LAPolicy, localizedReason: String, reply: @escaping (Bool, (any Error)?) -> Void
    ) {
        reply(true, nil)
    }
}
