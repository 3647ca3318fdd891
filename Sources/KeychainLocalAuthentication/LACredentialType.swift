/// The kind of a credential that a program gives to a context itself.
public enum LACredentialType: Int, Sendable {
    case applicationPassword = 0
    case smartCardPIN = -3
}
