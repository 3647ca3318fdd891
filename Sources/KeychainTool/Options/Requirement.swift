internal import ArgumentParser
internal import KeychainModel

/// The conditions that an item can set for its reading.
enum Requirement: String, CaseIterable, ExpressibleByArgument {
    case userPresence = "user-presence"
    case biometryAny = "biometry-any"
    case biometryCurrentSet = "biometry-current-set"
    case passcode
    case applicationPassword = "application-password"

    var flag: AccessControl.Flags {
        switch self {
        case .userPresence: .userPresence
        case .biometryAny: .biometryAny
        case .biometryCurrentSet: .biometryCurrentSet
        case .passcode: .devicePasscode
        case .applicationPassword: .applicationPassword
        }
    }
}

extension [Requirement] {
    /// - Parameter either: Whether one of several is enough.
    /// - Throws: a mistake on the command line, if the conditions do not go together.
    func accessControl(
        _ protection: Protection, either: Bool, adding others: AccessControl.Flags = []
    ) throws -> AccessControl {
        var flags = reduce(into: others) { $0.insert($1.flag) }
        let constraints = Set(self).subtracting([.applicationPassword])
        if either {
            guard constraints.count > 1 else {
                throw ValidationError("--either is for several --require, the application password not counted.")
            }
            flags.insert(.or)
        } else if constraints.count > 1 {
            flags.insert(.and)
        }
        do throws(KeychainError) {
            return try AccessControl(protection, flags: flags)
        } catch {
            throw ValidationError("These --require do not go together: \(error.message).")
        }
    }
}
