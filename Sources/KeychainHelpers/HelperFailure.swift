/// A failure of a helper, not of the keychain, with a text for the tool or the person.
package struct HelperFailure: Error {
    package let message: String

    package init(_ message: String) { self.message = message }
}
