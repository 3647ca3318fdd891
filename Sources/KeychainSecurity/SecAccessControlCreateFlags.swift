/// What an access control asks for beyond its protection class.
public struct SecAccessControlCreateFlags: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The person is there: biometry or the passcode.
    public static let userPresence = Self(rawValue: 1 << 0)
    /// Any finger or face that is enrolled, also one enrolled later.
    public static let biometryAny = Self(rawValue: 1 << 1)
    /// The older name of ``biometryAny``.
    public static let touchIDAny = biometryAny
    /// The fingers or faces enrolled now; the item is not found any more when they change.
    public static let biometryCurrentSet = Self(rawValue: 1 << 3)
    /// The older name of ``biometryCurrentSet``.
    public static let touchIDCurrentSet = biometryCurrentSet
    /// The keychain's passcode. Part of the secret's key, unless ``or`` allows something else in its place.
    public static let devicePasscode = Self(rawValue: 1 << 4)
    /// A paired companion device. There is none here, so nothing satisfies it.
    public static let companion = Self(rawValue: 1 << 5)
    /// The older name of ``companion``.
    public static let watch = companion
    /// One of several constraints is enough.
    public static let or = Self(rawValue: 1 << 14)
    /// All of several constraints are needed, which is also the rule when neither this nor ``or`` is given.
    public static let and = Self(rawValue: 1 << 15)
    /// The constraints apply to the use of a private key instead of to reading the item, which is refused to everybody.
    public static let privateKeyUsage = Self(rawValue: 1 << 30)
    /// A password of the program's own is mixed into the encryption.
    public static let applicationPassword = Self(rawValue: 1 << 31)
}
