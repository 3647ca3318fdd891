internal import DataProtectionCore
internal import Glibc
internal import KeychainModel

/// The failure of a command with one file.
struct FileFailure: Error {
    /// The path, as the person named it.
    let path: String
    let message: String
    /// The exit status.
    let status: Int32
}

extension FileFailure {
    init(_ path: String, _ code: KeychainError.Code, _ message: String) {
        self.init(path: path, message: message, status: ExitStatus.of(code))
    }

    /// A refusal of the system.
    init(_ path: String, _ verb: String, _ failure: Int32) {
        self.init(path, Self.code(of: failure), "cannot \(verb) it: \(String(cString: strerror(failure)))")
    }

    /// - Parameters:
    ///   - path: As the person named it; nil: as the error does.
    ///   - prefix: The words before the error's message.
    init(_ error: DataProtectionError, path: String? = nil, prefix: String = "") {
        let message =
            error.code == .notProtected ? "it is a plain file; 'keychainctl file protect' encrypts it" : error.message
        // The keychain's own status is passed on as it is.
        let status = error.status.map { $0 & 0xff } ?? ExitStatus.of(Self.code(of: error))
        self.init(path: path ?? error.path, message: prefix + message, status: status)
    }

    /// Does `body`. An error with the file has its path as the person named it.
    static func naming<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as DataProtectionError { throw FileFailure(error, path: path) }
    }

    static func nameIsNoText(_ path: String) -> FileFailure {
        FileFailure(path, .parameter, "its name is not UTF-8 text: rename it first")
    }

    var text: String { "\(path): \(message)" }

    private static func code(of error: DataProtectionError) -> KeychainError.Code {
        switch error.code {
        case .locked: .interactionNotAllowed
        case .wrongKey: .noSuchKeychain
        case .wrongPassphrase: .authenticationFailed
        case .tampered, .truncated: .decode
        case .newerFormat: .unimplemented
        case .keysUnavailable: .notAvailable
        case .notProtected, .invalidOption, .unsupportedFile: .parameter
        case .changedMeanwhile: .inputOutput
        case .keychain: .internalFailure
        case .system: code(of: error.errno ?? EIO)
        }
    }

    private static func code(of failure: Int32) -> KeychainError.Code {
        switch failure {
        case ENOSPC, EDQUOT: .diskFull
        case EEXIST: .duplicateItem
        case ENOMEM: .allocation
        case EROFS: .readOnly
        default: .inputOutput
        }
    }
}
