public import DataProtectionCore
public import Foundation
internal import Glibc

extension DataProtectionError {
    /// The direction of a call. Foundation has separate error codes for reading and for writing.
    public enum Operation: Sendable, Hashable { case reading, writing }

    /// Makes the error that Foundation's own functions throw in such a case.
    ///
    /// ```swift
    /// do {
    ///     return try files.read(from: url)
    /// } catch {
    ///     throw error.cocoaError(.reading)  // for callers that know Foundation's codes
    /// }
    /// ```
    ///
    /// | code | reading | writing |
    /// |---|---|---|
    /// | `.locked`, `.wrongPassphrase` | `fileReadNoPermission` (257) | `fileWriteNoPermission` (513) |
    /// | `.tampered`, `.truncated`, `.newerFormat` | `fileReadCorruptFile` (259) | `fileWriteUnknown` (512) |
    /// | `.system` | by ``errno`` | by ``errno`` |
    /// | all others | `fileReadUnknown` (256) | `fileWriteUnknown` (512) |
    ///
    /// The underlying error of the first row is a `POSIXError` with `EPERM`, which Apple's systems report for a locked
    /// file. For `.system` it is a `POSIXError` with ``errno``. Otherwise it is this error.
    ///
    /// - Parameter operation: The direction of the call that failed.
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
