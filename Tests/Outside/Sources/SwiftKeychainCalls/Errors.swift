import Foundation
import Report
import SwiftKeychain

func explained(_ error: KeychainError) {
    tell(
        "It has a status",
        error.status == -25260 && error.code.status == -25260 && error.code.description.contains("-25260"))
    for language in KeychainError.Language.allCases {
        tell(
            "It is explained in \(language)",
            !error.meaning(in: language).isEmpty && !error.advice(in: language).isEmpty)
    }
    tell(
        "And in the user's", error.errorDescription?.contains(error.message) == true && error.recoverySuggestion != nil)
    tell("With what was asked", error.failureReason == error.message)
    let codes: [KeychainError.Code] = [
        .unimplemented, .inputOutput, .diskFull, .parameter, .allocation, .userCancelled, .noPasscode, .notAvailable,
        .readOnly, .authenticationFailed, .noSuchKeychain, .duplicateItem, .itemNotFound, .dataTooLarge,
        .noSuchAttribute,
        .noSuchClass, .interactionNotAllowed, .decode, .internalFailure, .missingEntitlement, .taskCancelled,
    ]
    tell("No two codes are one", Set(codes).count == 21)
    tell("An unknown status stays what it is", KeychainError.Code(status: 7).status == 7)
}

/// What a program's own test puts in the place of a keychain.
struct FakeStore {
    let code: KeychainError.Code

    func string(for _: String) throws(KeychainError) -> String? {
        throw KeychainError(code, cause: CancellationError())
    }
}

func patterns() {
    let names: [KeychainError.Code] = [
        KeychainError.unimplemented, KeychainError.inputOutput, KeychainError.diskFull, KeychainError.parameter,
        KeychainError.allocation, KeychainError.userCancelled, KeychainError.noPasscode, KeychainError.notAvailable,
        KeychainError.readOnly, KeychainError.authenticationFailed, KeychainError.noSuchKeychain,
        KeychainError.duplicateItem, KeychainError.itemNotFound, KeychainError.dataTooLarge,
        KeychainError.noSuchAttribute, KeychainError.noSuchClass, KeychainError.interactionNotAllowed,
        KeychainError.decode, KeychainError.internalFailure, KeychainError.missingEntitlement,
        KeychainError.taskCancelled,
    ]
    tell("Every code is a pattern", Set(names).count == 21)
    do {
        try JSONEncoder().encode("x").write(to: URL(filePath: "beside.json"))
        _ = try FakeStore(code: .interactionNotAllowed).string(for: "a")
        stop("a fake throws nothing")
    } catch KeychainError.userCancelled {
        stop("a code matches another one")
    } catch KeychainError.interactionNotAllowed {
        tell("A code is caught beside other errors", true)
    } catch {
        stop("a code matches nothing")
    }
    do {
        _ = try FakeStore(code: .taskCancelled).string(for: "a")
    } catch .userCancelled {
        stop("a cancelled task is a person who declines")
    } catch .taskCancelled {
        tell("A cancelled task is told from a person who declines", true)
    } catch {
        stop("a code matches nothing")
    }
    let error = KeychainError(.itemNotFound, message: "a")
    tell("Errors are equal by their codes", error == KeychainError(.itemNotFound) && error != KeychainError(.decode))
    let old = error as NSError
    tell("An NSError has Apple's domain and status", old.domain == "NSOSStatusErrorDomain" && old.code == -25300)
}

// The closures of functions that throw nothing but a keychain's errors.

func typedClosures(_ keychain: Keychain) throws(KeychainError) -> Int? {
    try keychain.transaction { changes throws(KeychainError) in try changes.set("x", for: "k") }
    try keychain.modify(String.self, for: "k") { $0 = "y" }
    return try keychain.withSecret(for: "k") { $0.count }
}

func typedClosuresInTask(_ keychain: Keychain) async throws(KeychainError) -> Int? {
    try await keychain.transaction { changes throws(KeychainError) in try changes.set("xx", for: "k") }
    try await keychain.modify(String.self, for: "k") { $0 = "yy" }
    return try await keychain.withSecret(for: "k") { $0.count }
}

func isCancelled<R>(_ body: () throws -> R) -> Bool {
    do { _ = try body() } catch { return error is CancellationError }
    return false
}

func isCancelledInTask<R>(_ body: () async throws -> R) async -> Bool {
    do { _ = try await body() } catch { return error is CancellationError }
    return false
}

func closures() async throws {
    let keychain = Keychain(service: "com.example.closures")
    try { () throws in try tell("A closure without other errors", typedClosures(keychain) == 1) }()
    try await tell("In a task too", typedClosuresInTask(keychain), 2)
    do {
        try await keychain.transaction { changes in
            try changes.set("z", for: "k")
            throw CancellationError()
        }
    } catch is CancellationError {
        try await tell("Any error leaves all as it was", keychain.string(for: "k"), "yy")
    }
    tell(
        "A closure's own error is thrown",
        isCancelled { try keychain.modify(String.self, for: "k") { _ in throw CancellationError() } }
            && isCancelled { try keychain.withSecret(for: "k") { _ -> Int in throw CancellationError() } })
    let isModifying = await isCancelledInTask {
        try await keychain.modify(String.self, for: "k") { _ in throw CancellationError() }
    }
    let isReading = await isCancelledInTask {
        try await keychain.withSecret(for: "k") { _ -> Int in throw CancellationError() }
    }
    tell("In a task too", isModifying && isReading)
    try await keychain.removeAll()
}
