// Items that ask for a finger, for presence, or for a password of the program's own. It runs where nobody is: no reader, no
// passcode, nothing to ask with. So it shows what is refused then, and what a program can do by itself.

import Foundation
import LocalAuthentication
import Security
import Story

let vault = BiometricVault(service: "com.example.biometric-item")
let notAllowed = BiometricError(status: errSecInteractionNotAllowed)
let failed = BiometricError(status: errSecAuthFailed)
let account = "ada"

story {
    var problem: NSError?
    let canEvaluate = LAContext().canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &problem)
    let explanation = problem?.localizedDescription ?? "no reason given"
    tell("Biometry cannot be evaluated here: \(explanation)", !canEvaluate && problem != nil)

    tell("Presence and biometry exclude each other.", fails: BiometricError(status: errSecParam)) {
        _ = try BiometricVault.accessControl(kSecAttrAccessibleWhenUnlocked, [.userPresence, .biometryAny])
    }
    tell("Nothing is stored for the fingers that are enrolled, where none is.", fails: failed) {
        try vault.store("secret", account: account, accessible: kSecAttrAccessibleWhenUnlockedThisDeviceOnly)
    }
    tell("Without a passcode, nothing is kept for when one is set.", fails: failed) {
        try vault.store(
            "secret", account: account, accessible: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly,
            flags: .userPresence)
    }
    tell("Nor is anything sealed with it.", fails: failed) {
        try vault.store(
            "secret", account: account, accessible: kSecAttrAccessibleWhenUnlocked, flags: .devicePasscode)
    }

    let context = LAContext()
    context.setCredential(Data("a password of this program's".utf8), type: .applicationPassword)
    try vault.store(
        "secret", account: account, accessible: kSecAttrAccessibleWhenUnlockedThisDeviceOnly,
        flags: .applicationPassword,
        context: context)
    print("A secret is stored together with a password of the program's own.")
    tell("With that password it opens.", try vault.secret(account: account, context: context) == "secret")
    let other = LAContext()
    other.setCredential(Data("another one".utf8), type: .applicationPassword)
    tell("With another one it does not.", fails: failed) { _ = try vault.secret(account: account, context: other) }
    let silent = LAContext()
    silent.interactionNotAllowed = true
    tell("Without it, and with a context that forbids questions, reading is refused.", fails: notAllowed) {
        _ = try vault.secret(account: account, context: silent)
    }
    tell("A search that leaves out such items does not find it.", fails: BiometricError(status: errSecItemNotFound)) {
        _ = try vault.secretWithoutQuestion(account: account)
    }
    tell("It cannot be replaced either.", fails: notAllowed) {
        try vault.replace("another", account: account, context: silent)
    }
    try vault.replace("another", account: account, context: context)
    tell("Except with the password.", try vault.secret(account: account, context: context) == "another")
    context.invalidate()
    tell("A context that was invalidated shows nothing any more.", fails: notAllowed) {
        _ = try vault.secret(account: account, context: context)
    }

    try vault.remove(account)
    print("Deleting it needs nobody's consent.")
    tell("It is gone.", fails: BiometricError(status: errSecItemNotFound)) {
        _ = try vault.secret(account: account, prompt: "Show me that it is you")
    }
}
