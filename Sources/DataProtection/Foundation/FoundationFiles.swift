public import Foundation
internal import Glibc
internal import KeychainCrypto

/// What Foundation's functions do with files on Apple's platforms, and on Linux do not.
///
/// Nothing here is meant to be called by hand. The plugin `AppleCompatibility` gives a target members with Foundation's own
/// signatures, so that code stays as it is, and each of them calls the function of the same purpose here. In code that is
/// written for this library use ``ProtectedFiles``.
///
/// - **Writing** with an option or attribute that names a class gives a file of that class. Where nothing is said, a
///   protected file keeps its class, a new one gets that of its directory, and everything else is Foundation's.
/// - **Reading** gives the content of protected files. Everything else is Foundation's, errors included.
/// - **Errors** are `CocoaError`s. A locked file is `fileReadNoPermission` (257) or `fileWriteNoPermission` (513), with an
///   underlying `POSIXError` EPERM; a damaged one `fileReadCorruptFile` (259).
/// - The **keychain** is the process's own: `KeychainConfiguration.processDefault`.
///
/// Functions of Foundation that are not here go on as before: what they write is plain, and what they read of a protected
/// file is ciphertext.
public enum FoundationFiles {
    // MARK: Data

    /// `Data.write(to:options:)`.
    ///
    /// - Throws: `fileWriteUnknown` for a class that is not known, or several that add up to none.
    public static func write(_ data: Data, to url: URL, options: Data.WritingOptions) throws {
        try write(data, to: NamedFile(url), url.absoluteString, options) { try data.write(to: url, options: options) }
    }

    /// `NSData.write(to:options:)`.
    public static func write(_ data: NSData, to url: URL, options: Data.WritingOptions) throws {
        try write(data as Data, to: NamedFile(url), url.absoluteString, options) {
            try data.write(to: url, options: options)
        }
    }

    /// `NSData.write(toFile:options:)`.
    public static func write(_ data: NSData, toFile path: String, options: Data.WritingOptions) throws {
        try write(data as Data, to: NamedFile(path: path), path, options) {
            try data.write(toFile: path, options: options)
        }
    }

    /// `Data.init(contentsOf:options:)`. A protected file is never mapped: its content is in memory.
    public static func data(contentsOf url: URL, options: Data.ReadingOptions) throws -> Data {
        try read(NamedFile(url)) { try Data(contentsOf: url, options: options) }
    }

    /// `NSData.init(contentsOfFile:options:)`.
    public static func data(contentsOfFile path: String, options: Data.ReadingOptions) throws -> Data {
        try read(NamedFile(path: path)) { try NSData(contentsOfFile: path, options: options) as Data }
    }

    // MARK: Parts

    /// - Parameter plainly: Foundation's own way, for what is not protected.
    static func write(
        _ data: Data, to file: NamedFile?, _ name: String, _ options: Data.WritingOptions, plainly: () throws -> Void
    ) throws {
        try reporting(.writing) {
            let asked = try FileProtection.asked(by: options, file?.path ?? name)
            guard let (file, protection) = try protected(file, name, asked) else { return try plainly() }
            let mustBeNew = options.contains(.withoutOverwriting)
            try ProtectedFiles().write(
                data, to: file.url, protection: protection, options: mustBeNew ? .withoutOverwriting : [])
        }
    }

    /// The file that is to be written, and its class; nil: it is left to Foundation. Never so if a class was asked for.
    ///
    /// - Parameter file: nil: what was named is no file of ours, such as a path with a NUL.
    /// - Throws: if a class was asked for and there is no file to give it to.
    static func protected(
        _ file: NamedFile?, _ name: String, _ asked: FileProtection?
    ) throws(DataProtectionError) -> (NamedFile, FileProtection)? {
        switch (asked, file) {
        case (nil, nil): return nil
        case (_?, nil): throw .system("protect", name, errno: EINVAL)
        case (let asked, let file?): return try file.protection(asWritten: asked).map { (file, $0) }
        }
    }

    /// - Parameter plainly: Foundation's own way, for what is not protected.
    static func read(_ file: NamedFile?, plainly: () throws -> Data) throws -> Data {
        try reporting(.reading) {
            if let content = try file?.content() { return content }
            let data = try plainly()
            // Ciphertext: the file was given a class between the two.
            if data.withUnsafeBytes(FileFormat.isProtected), let content = try file?.content() { return content }
            return data
        }
    }

    /// Turns our errors into Foundation's.
    static func reporting<R>(_ operation: DataProtectionError.Operation, _ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let error as DataProtectionError {
            throw error.cocoaError(operation)
        }
    }
}
