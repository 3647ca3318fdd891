/// The type tells the kinds of credential apart that a program itself gives to a context.
public enum LACredentialType: Int, Sendable {
    /// A password of the program's own becomes part of the key of items with
    /// `SecAccessControlCreateFlags.applicationPassword`.
    case applicationPassword = 0
    /// The PIN of a smart card is refused, since there are no smart cards here.
    case smartCardPIN = -3
}
