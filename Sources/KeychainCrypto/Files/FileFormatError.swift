/// Why a file's bytes give no content.
package enum FileFormatError: Error, Sendable, Hashable {
    case notProtected
    /// Something is missing at its end.
    case truncated
    /// The text tells a person what is wrong.
    case tampered(String)
    case newerFormat(UInt16)
}
