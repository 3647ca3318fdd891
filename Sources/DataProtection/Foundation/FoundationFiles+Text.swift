internal import DataProtectionCore
public import Foundation
internal import Glibc

extension FoundationFiles {
    // MARK: String

    /// The function behind `StringProtocol.write(to:atomically:encoding:)`.
    ///
    /// It names no class, so a protected file keeps its class, and a new file gets the class of its directory. A
    /// protected file is written whole or not at all in any case.
    ///
    /// - Throws: `fileWriteInapplicableStringEncoding` (517) if the encoding lacks a character; `fileWriteNoPermission`
    ///   (513) if the key is locked away; otherwise Foundation's errors.
    public static func write(
        _ text: some StringProtocol, to url: URL, atomically: Bool, encoding: String.Encoding
    ) throws {
        try write(text, to: NamedFile(url), encoding) {
            try text.write(to: url, atomically: atomically, encoding: encoding)
        }
    }

    /// The function behind `StringProtocol.write(toFile:atomically:encoding:)`.
    ///
    /// - Throws: The errors of ``write(_:to:atomically:encoding:)``.
    public static func write(
        _ text: some StringProtocol, toFile path: some StringProtocol, atomically: Bool, encoding: String.Encoding
    ) throws {
        try write(text, to: NamedFile(path: String(path)), encoding) {
            try text.write(toFile: path, atomically: atomically, encoding: encoding)
        }
    }

    /// The function behind `String.init(contentsOf:encoding:)`.
    ///
    /// - Throws: `fileReadInapplicableStringEncoding` (261) for bytes that are no such text; `fileReadNoPermission`
    ///   (257) while the file is locked; otherwise Foundation's errors.
    public static func string(contentsOf url: URL, encoding: String.Encoding) throws -> String {
        try string(in: NamedFile(url), encoding) { try String(contentsOf: url, encoding: encoding) }
    }

    /// The function behind `String.init(contentsOfFile:encoding:)`.
    ///
    /// - Throws: The errors of ``string(contentsOf:encoding:)``.
    public static func string(contentsOfFile path: String, encoding: String.Encoding) throws -> String {
        try string(in: NamedFile(path: path), encoding) { try String(contentsOfFile: path, encoding: encoding) }
    }

    /// The function behind `String.init(contentsOf:usedEncoding:)`, and behind `String.init(contentsOf:)`.
    ///
    /// A protected file is read as UTF-32 or UTF-16 if it begins with such a byte order mark, and as UTF-8 otherwise.
    ///
    /// - Throws: The errors of ``string(contentsOf:encoding:)``.
    public static func string(contentsOf url: URL, usedEncoding: inout String.Encoding) throws -> String {
        guard let content = try protectedContent(of: NamedFile(url)) else {
            return try String(contentsOf: url, usedEncoding: &usedEncoding)
        }
        usedEncoding = encoding(of: content)
        return try string(content, usedEncoding)
    }

    /// The function behind `String.init(contentsOfFile:usedEncoding:)`, and behind `String.init(contentsOfFile:)`.
    ///
    /// - Throws: The errors of ``string(contentsOf:encoding:)``.
    public static func string(contentsOfFile path: String, usedEncoding: inout String.Encoding) throws -> String {
        guard let content = try protectedContent(of: NamedFile(path: path)) else {
            return try String(contentsOfFile: path, usedEncoding: &usedEncoding)
        }
        usedEncoding = encoding(of: content)
        return try string(content, usedEncoding)
    }

    // MARK: Parts

    private static func write(
        _ text: some StringProtocol, to file: NamedFile?, _ encoding: String.Encoding, plainly: () throws -> Void
    ) throws {
        try reporting(.writing) {
            guard let file, let protection = try file.protection(asWritten: nil) else { return try plainly() }
            guard let data = String(text).data(using: encoding) else {
                throw CocoaError(.fileWriteInapplicableStringEncoding, userInfo: [NSFilePathErrorKey: file.path])
            }
            try ProtectedFiles().write(data, to: file.url, protection: protection)
        }
    }

    private static func string(
        in file: NamedFile?, _ encoding: String.Encoding, plainly: () throws -> String
    ) throws -> String {
        guard let content = try protectedContent(of: file) else { return try plainly() }
        return try string(content, encoding)
    }

    private static func protectedContent(of file: NamedFile?) throws -> Data? {
        try reporting(.reading) { try file?.content() }
    }

    private static func string(_ content: Data, _ encoding: String.Encoding) throws -> String {
        guard let text = String(data: content, encoding: encoding) else {
            throw CocoaError(.fileReadInapplicableStringEncoding)
        }
        return text
    }

    /// The encoding that the byte order mark names. Without a mark it is UTF-8, as in Foundation.
    private static func encoding(of content: Data) -> String.Encoding {
        let marks: [([UInt8], String.Encoding)] = [
            ([0xFF, 0xFE, 0, 0], .utf32), ([0, 0, 0xFE, 0xFF], .utf32),
            ([0xFF, 0xFE], .utf16), ([0xFE, 0xFF], .utf16),
        ]
        return marks.first { content.starts(with: $0.0) }?.1 ?? .utf8
    }
}
