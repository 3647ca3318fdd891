/// A failure with a text for the tool or the person, which is not the keychain's.
package struct HelperFailure: Error {
    package let message: String

    package init(_ message: String) { self.message = message }
}
