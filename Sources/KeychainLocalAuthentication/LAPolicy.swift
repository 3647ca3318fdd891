/// What a person has to do to be authenticated.
public enum LAPolicy: Int, Sendable {
    /// A finger or a face.
    case deviceOwnerAuthenticationWithBiometrics = 1
    /// A finger, a face or the passcode.
    case deviceOwnerAuthentication = 2
    /// A paired companion device.
    case deviceOwnerAuthenticationWithCompanion = 3
    /// A finger, a face or a paired companion device.
    case deviceOwnerAuthenticationWithBiometricsOrCompanion = 4

    /// The older name of ``deviceOwnerAuthenticationWithCompanion``.
    public static let deviceOwnerAuthenticationWithWatch = deviceOwnerAuthenticationWithCompanion
    /// The older name of ``deviceOwnerAuthenticationWithBiometricsOrCompanion``.
    public static let deviceOwnerAuthenticationWithBiometricsOrWatch =
        deviceOwnerAuthenticationWithBiometricsOrCompanion
}
