// An item that asks for a finger or a face. Linux has no such sensor for it yet, so the secret stays closed:
// what the example shows is that no way of asking gets at it.

import Foundation
import LocalAuthentication
import Security
import Story

let vault = BiometricVault(service: "com.example.biometric-item")
let notAllowed = BiometricError(status: errSecInteractionNotAllowed)
let account = "ada"

story {
    var problem: NSError?
    let context = LAContext()
    let canEvaluate = context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &problem)
    let explanation = problem?.localizedDescription ?? "no reason given"
    tell("Biometry cannot be evaluated here: \(explanation)", !canEvaluate && problem != nil)

    tell("Presence and biometry exclude each other.", fails: BiometricError(status: errSecParam)) {
        _ = try BiometricVault.accessControl(kSecAttrAccessibleWhenUnlocked, [.userPresence, .biometryAny])
    }
    tell("Without a passcode, nothing is kept for when one is set.", fails: BiometricError(status: errSecAuthFailed)) {
        try vault.store("secret", account: account, accessible: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly)
    }

    try vault.store("secret", account: account, accessible: kSecAttrAccessibleWhenUnlockedThisDeviceOnly)
    print("A secret is stored that asks for biometry.")
    tell("Reading it with a prompt fails.", fails: notAllowed) {
        _ = try vault.secret(account: account, prompt: "Show me that it is you")
    }
    tell("With a context, too.", fails: notAllowed) {
        _ = try vault.secret(account: account, context: context)
    }
    context.interactionNotAllowed = true
    tell("And with one that forbids questions.", fails: notAllowed) {
        _ = try vault.secret(account: account, context: context)
    }
    tell("A search that leaves out such items does not find it.", fails: BiometricError(status: errSecItemNotFound)) {
        _ = try vault.secretWithoutQuestion(account: account)
    }
    tell("It cannot be replaced.", fails: notAllowed) { try vault.replace("another", account: account) }

    try vault.remove(account)
    print("Deleting it needs nobody's consent.")
    tell("It is gone.", fails: BiometricError(status: errSecItemNotFound)) {
        _ = try vault.secret(account: account, prompt: "Show me that it is you")
    }
}
