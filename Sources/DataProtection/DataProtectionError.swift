public import Foundation
internal import Glibc

/// Why something could not be done with a protected file. The file is as it was before, but for one case: where a disk
/// fails after the new file has taken its name, the message says that the disk may not have it.
public struct DataProtectionError: Error, Sendable {
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The key of the file's class is locked away: try again after the unlock.
        case locked
        /// The file was made with another keychain, or its key was destroyed.
        case wrongKey
        /// The passphrase is not the one that a backup key was made with.
        case wrongPassphrase
        /// What is stored was changed by something that did not have the key, or is damaged. Nothing of it is given out.
        case tampered
        /// The end of the file is missing.
        case truncated
        /// The keychain that has the keys cannot be opened: ``message`` says why.
        case keysUnavailable
        /// A plain file, where a protected one is needed.
        case notProtected
        /// A newer version of this library made the file.
        case newerFormat
        /// An option that is not defined, or two that contradict each other. Never taken for "no protection".
        case invalidOption
        /// A directory, device, pipe or socket; a file with several names; a file of another user.
        case unsupportedFile
        /// The file was written by another program meanwhile.
        case changedMeanwhile
        /// Any other refusal of the keychain.
        case keychain
        /// The system's refusal: ``errno`` says which.
        case system
    }

    public let code: Code
    /// Of the file.
    public let path: String
    /// What went wrong and what to do about it, for a person. Never holds content.
    public let message: String
    /// The system's error number, for ``Code-swift.enum/system``.
    public let errno: Int32?
    /// Apple's `OSStatus`, if the keychain refused.
    public let status: Int32?

    package init(_ code: Code, _ path: String, _ message: String, errno: Int32? = nil, status: Int32? = nil) {
        self.code = code
        self.path = path
        self.message = message
        self.errno = errno
        self.status = status
    }

    /// - Parameter action: "read", "write"; what was tried.
    package static func system(_ action: String, _ path: String, errno: Int32 = Glibc.errno) -> DataProtectionError {
        DataProtectionError(.system, path, "cannot \(action) it: \(String(cString: strerror(errno)))", errno: errno)
    }
}

extension DataProtectionError: CustomStringConvertible {
    public var description: String { "\(path): \(message)" }
}

extension DataProtectionError: LocalizedError {
    public var errorDescription: String? { description }
}

extension DataProtectionError {
    /// What was being done when it failed.
    public enum Operation: Sendable, Hashable { case reading, writing }

    /// The same as Foundation's functions report it.
    ///
    /// A locked file is `fileReadNoPermission` (257) or `fileWriteNoPermission` (513) with an underlying `EPERM`, as on
    /// Apple's systems; one that was changed or cut short `fileReadCorruptFile` (259). One of another keychain, which no unlock
    /// opens, is `fileReadUnknown` (256) or `fileWriteUnknown` (512).
    public func cocoaError(_ operation: Operation) -> CocoaError {
        let isReading = operation == .reading
        var underlying: any Error = self
        let code: CocoaError.Code
        switch self.code {
        case .locked, .wrongPassphrase:
            code = isReading ? .fileReadNoPermission : .fileWriteNoPermission
            underlying = POSIXError(.EPERM)
        case .tampered, .truncated, .newerFormat:
            code = isReading ? .fileReadCorruptFile : .fileWriteUnknown
        case .system:
            (code, underlying) = Self.cocoaCode(of: errno ?? EIO, isReading)
        case .wrongKey, .notProtected, .invalidOption, .unsupportedFile, .changedMeanwhile,
            .keysUnavailable, .keychain:
            code = isReading ? .fileReadUnknown : .fileWriteUnknown
        }
        return CocoaError(
            code,
            userInfo: [
                NSFilePathErrorKey: path, NSUnderlyingErrorKey: underlying, NSDebugDescriptionErrorKey: message,
            ])
    }

    private static func cocoaCode(of errno: Int32, _ isReading: Bool) -> (CocoaError.Code, any Error) {
        let code: CocoaError.Code =
            switch errno {
            case ENOENT: isReading ? .fileReadNoSuchFile : .fileNoSuchFile
            case EPERM, EACCES: isReading ? .fileReadNoPermission : .fileWriteNoPermission
            case EEXIST: .fileWriteFileExists
            case ENOSPC, EDQUOT: .fileWriteOutOfSpace
            case EROFS: .fileWriteVolumeReadOnly
            case ENAMETOOLONG: isReading ? .fileReadInvalidFileName : .fileWriteInvalidFileName
            case EFBIG: isReading ? .fileReadTooLarge : .fileWriteUnknown
            default: isReading ? .fileReadUnknown : .fileWriteUnknown
            }
        return (code, POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO))
    }
}
