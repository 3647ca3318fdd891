/// A policy names the proofs that authenticate a person.
public enum LAPolicy: Int, Sendable {
    /// The person has to show an enrolled finger or face.
    case deviceOwnerAuthenticationWithBiometrics = 1
    /// The person has to show an enrolled finger or face, or the keychain's passcode.
    case deviceOwnerAuthentication = 2
    /// The person has to show a paired companion device, which does not exist here, so every evaluation fails.
    ///
    /// The error is `LAError.companionNotAvailable`.
    case deviceOwnerAuthenticationWithCompanion = 3
    /// The person has to show an enrolled finger or face, since there is no companion device.
    case deviceOwnerAuthenticationWithBiometricsOrCompanion = 4

    /// The older name stands for ``deviceOwnerAuthenticationWithCompanion``.
    public static let deviceOwnerAuthenticationWithWatch = deviceOwnerAuthenticationWithCompanion
    /// The older name stands for ``deviceOwnerAuthenticationWithBiometricsOrCompanion``.
    public static let deviceOwnerAuthenticationWithBiometricsOrWatch =
        deviceOwnerAuthenticationWithBiometricsOrCompanion
}
