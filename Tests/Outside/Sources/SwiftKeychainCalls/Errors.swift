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
        .noSuchClass, .interactionNotAllowed, .decode, .internalFailure, .missingEntitlement,
    ]
    tell("No two codes are one", Set(codes).count == 20)
    tell("An unknown status stays what it is", KeychainError.Code(status: 7).status == 7)
}
