/// A failure of a set-up, not of the keychain, with a text for the person.
package struct SetupFailure: Error {
    package let message: String
}
