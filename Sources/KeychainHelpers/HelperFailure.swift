/// A failure that is not the keychain's: input that cannot be read, or output that cannot be written.
package struct HelperFailure: Error {
    package let message: String

    package init(_ message: String) { self.message = message }
}
