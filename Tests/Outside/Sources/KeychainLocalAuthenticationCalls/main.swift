// Uses everything public of the module KeychainLocalAuthentication once: on keychains without a passcode, and with readers that the
// program brings along.

import Foundation
import LocalAuthentication
import Report
import Security
import SwiftKeychain

await report {
    names()
    KeychainBiometry.provider = Camera(enrolled: nil)
    try await withNobody(LAContext())
    // A reader is taken by keychains that are opened afterwards.
    KeychainBiometry.provider = Camera(enrolled: Data("ada".utf8))
    KeychainConfiguration.processDefault.storeDirectory = URL(filePath: "other").absoluteURL
    try await withSomebody(LAContext())
    credentials(LAContext())
    errors()
}

/// A reader that sees who is enrolled, whenever it is asked.
final class Camera: BiometryProvider {
    private let enrolled: Data?

    init(enrolled: Data?) { self.enrolled = enrolled }

    var kind: KeychainBiometry.Kind { .face }

    func enrolledSet() throws -> Data? { enrolled }

    func verify(_ attempt: BiometryAttempt) throws -> Bool {
        attempt.withCancellationHandler({}, { !attempt.isCancelled })
    }
}

func names() {
    let policies: [LAPolicy] = [
        .deviceOwnerAuthenticationWithBiometrics, .deviceOwnerAuthentication, .deviceOwnerAuthenticationWithCompanion,
        .deviceOwnerAuthenticationWithBiometricsOrCompanion,
    ]
    tell("Policies have Apple's numbers", policies.map(\.rawValue) == [1, 2, 3, 4])
    let older: [LAPolicy] = [.deviceOwnerAuthenticationWithWatch, .deviceOwnerAuthenticationWithBiometricsOrWatch]
    tell("And two older names", older.map(\.rawValue) == [3, 4] && LAPolicy(rawValue: 5) == nil)
    let biometry: [LABiometryType] = [.none, .touchID, .faceID, .opticID]
    tell("Readers have Apple's numbers", biometry == [0, 1, 2, 4].map(LABiometryType.init(rawValue:)))
    let credentials: [LACredentialType] = [.applicationPassword, .smartCardPIN]
    tell("Credentials have Apple's numbers", credentials == [0, -3].map(LACredentialType.init(rawValue:)))
    let operations: [LAAccessControlOperation] = [
        .createItem, .useItem, .createKey, .useKeySign, .useKeyDecrypt, .useKeyKeyExchange,
    ]
    tell("Operations have Apple's numbers", operations == (0...5).map(LAAccessControlOperation.init(rawValue:)))
}

func withNobody(_ context: LAContext) async throws {
    var error: NSError?
    let pointer: NSErrorPointer = nil
    tell("Nobody can be asked", !context.canEvaluatePolicy(.deviceOwnerAuthentication, error: &error))
    tell("The error says why", (error as? LAError)?.code == .passcodeNotSet)
    tell("It need not", !context.canEvaluatePolicy(.deviceOwnerAuthentication, error: pointer))
    do {
        try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "to see the notes")
        stop("a policy is satisfied by nobody")
    } catch LAError.passcodeNotSet {
        print("An evaluation ends with the same error")
    }
    context.invalidate()
    tell("An invalidated context takes nothing", !context.setCredential(Data("a".utf8), type: .applicationPassword))
}

func withSomebody(_ context: LAContext) async throws {
    context.localizedReason = "to see the notes"
    context.localizedCancelTitle = "Not now"
    context.localizedFallbackTitle = ""
    context.touchIDAuthenticationAllowableReuseDuration = LATouchIDAuthenticationMaximumAllowableReuseDuration
    tell("A context keeps the reason", context.localizedReason == "to see the notes")
    tell("It keeps the titles", context.localizedCancelTitle == "Not now" && context.localizedFallbackTitle == "")
    tell("It keeps the time", context.touchIDAuthenticationAllowableReuseDuration == 300)
    tell("The reader is seen", context.biometryType == .faceID)
    tell("Somebody can be asked", context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil))
    tell("Who is enrolled has a digest", context.evaluatedPolicyDomainState != nil)

    let success = try await context.evaluatePolicy(
        .deviceOwnerAuthenticationWithBiometrics, localizedReason: "to see the notes")
    tell("A policy is satisfied", success)
    let replied = await withCheckedContinuation { continuation in
        context.evaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, localizedReason: "to see the notes") {
            success, error in continuation.resume(returning: success && error == nil)
        }
    }
    tell("And told to a closure", replied)

    guard let control = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .biometryAny, nil) else {
        stop("an access control is refused")
    }
    let mayUse = try await context.evaluateAccessControl(
        control, operation: .useItem, localizedReason: "to see the notes")
    tell("An access control is satisfied", mayUse)
    let mayCreate = await withCheckedContinuation { continuation in
        context.evaluateAccessControl(control, operation: .createItem, localizedReason: "to keep the notes") {
            success, error in continuation.resume(returning: success && error == nil)
        }
    }
    tell("And told to a closure", mayCreate)

    context.interactionNotAllowed = true
    tell("A context may be forbidden to ask", context.interactionNotAllowed)
}

func credentials(_ context: LAContext) {
    tell("A password is kept", context.setCredential(Data("a password".utf8), type: .applicationPassword))
    tell("For as long as it is wanted", context.isCredentialSet(.applicationPassword))
    tell("A PIN is not", !context.setCredential(Data("4711".utf8), type: .smartCardPIN))
}

func errors() {
    let codes: [LAError.Code] = [
        .authenticationFailed, .userCancel, .userFallback, .systemCancel, .passcodeNotSet, .biometryNotAvailable,
        .biometryNotEnrolled, .biometryLockout, .appCancel, .invalidContext, .companionNotAvailable, .biometryNotPaired,
        .biometryDisconnected, .invalidDimensions, .notInteractive,
    ]
    tell("Errors have Apple's numbers", codes.map(\.rawValue) == (1...14).map { -$0 } + [-1004])
    tell("A number makes one", LAError.Code(rawValue: -2) == .userCancel)
    tell("They are told apart by their codes", codes.allSatisfy { (LAError($0) as NSError).code == $0.rawValue })
    let error = LAError(.userCancel, userInfo: [NSLocalizedDescriptionKey: "Not now"])
    tell("They have a domain", (error as NSError).domain == LAErrorDomain && LAError.errorDomain == LAErrorDomain)
    tell("They have a code", error.code == .userCancel && error.errorCode == -2)
    tell("They have details", error.userInfo.count == 1 && error.errorUserInfo.count == 1)
    let numbers = [
        kLAErrorAuthenticationFailed, kLAErrorUserCancel, kLAErrorUserFallback,
        kLAErrorSystemCancel, kLAErrorPasscodeNotSet, kLAErrorBiometryNotAvailable,
        kLAErrorBiometryNotEnrolled, kLAErrorBiometryLockout, kLAErrorAppCancel,
        kLAErrorInvalidContext, kLAErrorCompanionNotAvailable, kLAErrorBiometryNotPaired,
        kLAErrorBiometryDisconnected, kLAErrorInvalidDimensions, kLAErrorNotInteractive,
    ]
    tell("Their numbers have names", numbers.map(Int.init) == codes.map(\.rawValue).sorted(by: >))
    let olderNumbers = [
        kLAErrorTouchIDNotAvailable, kLAErrorTouchIDNotEnrolled,
        kLAErrorTouchIDLockout, kLAErrorWatchNotAvailable,
    ]
    tell("The older ones too", olderNumbers == [-6, -7, -8, -11])
    tell("LAError has the names too", codes == ErrorNames.present)
    let older: [LAError.Code] = [.touchIDNotAvailable, .touchIDNotEnrolled, .touchIDLockout, .watchNotAvailable]
    tell("Four have older names", older.map(\.rawValue) == [-6, -7, -8, -11])
    tell("In both places", older == ErrorNames.older)
}
