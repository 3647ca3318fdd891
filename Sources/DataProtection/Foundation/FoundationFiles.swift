internal import DataProtectionCore
public import Foundation
internal import Glibc
internal import KeychainCrypto

/// The file functions of Foundation, with the protection that they have on Apple's platforms and lack on Linux.
///
/// A program does not call these functions itself. The plugin `AppleCompatibility` gives a target members with
/// Foundation's own signatures, which call the functions here, so that code stays as it is:
///
/// ```swift
/// try data.write(to: url, options: .completeFileProtection)  // under the plugin: FoundationFiles.write(_:to:options:)
/// ```
///
/// Code that is written for this library uses ``ProtectedFiles``.
///
/// - **Writing** with an option or attribute that names a class gives a file of that class. Without one, a protected
///   file keeps its class, and a new file gets the class of its directory. All other files are written by Foundation.
/// - **Reading** gives the content of protected files. All other files are read by Foundation, with its errors.
/// - **Errors** are `CocoaError`s. A locked file is `fileReadNoPermission` (257) or `fileWriteNoPermission` (513), with
///   an underlying `POSIXError` `EPERM`. A damaged file is `fileReadCorruptFile` (259).
/// - **Parameters** are those of Foundation's functions. A link is followed, and a leading `~` in a path is a part of
///   the name.
/// - **The keychain** is the process's own: `KeychainConfiguration.processDefault`.
///
/// Functions of Foundation that are not here write plain files, and read ciphertext from a protected file.
/// `FileHandle`, `InputStream` and memory mappings are among them.
public enum FoundationFiles {
    // MARK: Data

    /// The function behind `Data.write(to:options:)`.
    ///
    /// A protected file is written whole or not at all, with `.atomic` or without.
    ///
    /// - Throws: `fileWriteUnknown` (512) for a class that is not known; `fileWriteNoPermission` (513) if no file of
    ///   the class can be made while locked; `fileWriteFileExists` (516) with `.withoutOverwriting`; otherwise
    ///   Foundation's errors.
    public static func write(_ data: Data, to url: URL, options: Data.WritingOptions) throws {
        try write(data, to: NamedFile(url), url.absoluteString, options) { try data.write(to: url, options: options) }
    }

    /// The function behind `NSData.write(to:options:)`. It does what `Data.write(to:options:)` does.
    ///
    /// - Throws: The errors of `write(_:to:options:)` with a `Data`.
    public static func write(_ data: NSData, to url: URL, options: Data.WritingOptions) throws {
        try write(data as Data, to: NamedFile(url), url.absoluteString, options) {
            try data.write(to: url, options: options)
        }
    }

    /// The function behind `NSData.write(toFile:options:)`.
    ///
    /// - Throws: The errors of `write(_:to:options:)` with a `Data`.
    public static func write(_ data: NSData, toFile path: String, options: Data.WritingOptions) throws {
        try write(data as Data, to: NamedFile(path: path), path, options) {
            try data.write(toFile: path, options: options)
        }
    }

    /// The function behind `Data.init(contentsOf:options:)`.
    ///
    /// The content of a protected file is in memory, even where the options ask for a mapping.
    ///
    /// - Throws: `fileReadNoPermission` (257) while the file is locked; `fileReadCorruptFile` (259) if it is damaged;
    ///   `fileReadUnknown` (256) if it belongs to another keychain; otherwise Foundation's errors.
    public static func data(contentsOf url: URL, options: Data.ReadingOptions) throws -> Data {
        try read(NamedFile(url)) { try Data(contentsOf: url, options: options) }
    }

    /// The function behind `NSData.init(contentsOfFile:options:)`.
    ///
    /// - Throws: The errors of ``data(contentsOf:options:)``.
    public static func data(contentsOfFile path: String, options: Data.ReadingOptions) throws -> Data {
        try read(NamedFile(path: path)) { try NSData(contentsOfFile: path, options: options) as Data }
    }

    // MARK: Parts

    /// Writes a protected file, or leaves the write to Foundation.
    ///
    /// - Parameter plainly: Foundation's own function, for a file that is not protected.
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

    /// Finds the file that is to be written, and its class.
    ///
    /// - Parameter file: `nil` if the name is that of no file of ours, such as a path with a NUL.
    /// - Returns: `nil` if the write is left to Foundation. A class that was asked for is never left to Foundation.
    /// - Throws: An error if a class was asked for and there is no file to give it to.
    static func protected(
        _ file: NamedFile?, _ name: String, _ asked: FileProtection?
    ) throws(DataProtectionError) -> (NamedFile, FileProtection)? {
        switch (asked, file) {
        case (nil, nil): return nil
        case (_?, nil): throw .system("protect", name, errno: EINVAL)
        case (let asked, let file?): return try file.protection(asWritten: asked).map { (file, $0) }
        }
    }

    /// Reads a protected file, or leaves the read to Foundation.
    ///
    /// - Parameter plainly: Foundation's own function, for a file that is not protected.
    static func read(_ file: NamedFile?, plainly: () throws -> Data) throws -> Data {
        try reporting(.reading) {
            if let content = try file?.content() { return content }
            let data = try plainly()
            // These bytes are ciphertext: the file was given a class between the two reads.
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
