/// The flags are the constraints of an access control beyond its accessibility.
///
/// No flag constrains the deletion of an item. A finger or face is checked and becomes no part of the item's key: a
/// daemon makes the check where there is one, and otherwise the program itself.
public struct SecAccessControlCreateFlags: OptionSet, Sendable {
    /// The bits of the flags stand where Apple has them.
    public let rawValue: UInt

    /// Makes flags of their bits, and keeps bits that mean nothing.
    ///
    /// ``SecAccessControlCreateWithFlags(_:_:_:_:)`` refuses bits that mean nothing.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// A person has to show an enrolled finger or face, or the keychain's passcode.
    ///
    /// The flag joins only with ``applicationPassword`` and ``privateKeyUsage``. An item is stored even if there is
    /// neither finger nor passcode yet, and reading it ends with `errSecAuthFailed` until there is one.
    public static let userPresence = Self(rawValue: 1 << 0)
    /// A person has to show a finger or face that is enrolled, also one that was enrolled later.
    ///
    /// Storing an item ends with `errSecAuthFailed` while nothing is enrolled.
    public static let biometryAny = Self(rawValue: 1 << 1)
    /// The older name stands for ``biometryAny``.
    public static let touchIDAny = biometryAny
    /// A person has to show one of the fingers or faces that were enrolled when the item was stored.
    ///
    /// Another set hides the item: a search answers `errSecItemNotFound`. A set is told by the model of the reader and
    /// the names of the fingers, since fprintd tells no more. Storing an item ends with `errSecAuthFailed` while
    /// nothing is enrolled.
    public static let biometryCurrentSet = Self(rawValue: 1 << 3)
    /// The older name stands for ``biometryCurrentSet``.
    public static let touchIDCurrentSet = biometryCurrentSet
    /// A person has to show the keychain's passcode, which is not the user's password of the system.
    ///
    /// The passcode becomes part of the secret's key, unless ``or`` allows another constraint in its place. Storing an
    /// item ends with `errSecAuthFailed` while no passcode is set, unless there is such another constraint.
    public static let devicePasscode = Self(rawValue: 1 << 4)
    /// A person has to show a paired companion device, which does not exist here.
    ///
    /// Nothing satisfies the constraint. An item with it can be read only if ``or`` allows another constraint in its
    /// place.
    public static let companion = Self(rawValue: 1 << 5)
    /// The older name stands for ``companion``.
    public static let watch = companion
    /// One of several constraints is enough.
    ///
    /// An application password remains necessary in any case.
    public static let or = Self(rawValue: 1 << 14)
    /// All of several constraints are necessary, which is also the rule without this flag and ``or``.
    public static let and = Self(rawValue: 1 << 15)
    /// The constraints apply to the use of a private key, and reading the item is refused to every program.
    ///
    /// Reading and updating the item end with `errSecAuthFailed`. No function here uses a key yet.
    public static let privateKeyUsage = Self(rawValue: 1 << 30)
    /// A password of the program's own becomes part of the secret's key.
    ///
    /// The password comes from `LAContext.setCredential(_:type:)`, and otherwise the person is asked for it. An update
    /// cannot change the password. An item whose password is forgotten cannot be recovered.
    public static let applicationPassword = Self(rawValue: 1 << 31)
}
