/// Why a file's bytes give no content.
package enum FileFormatError: Error, Sendable, Hashable {
    case notProtected
    /// Something is missing at its end.
    case truncated
    /// What is wrong, for a person.
    case tampered(String)
    case newerFormat(UInt16)
}
