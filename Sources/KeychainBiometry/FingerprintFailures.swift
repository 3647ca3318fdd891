internal import Glibc
internal import KeychainBus
internal import KeychainModel

extension BiometryFailure {
    /// The failure to reach the bus.
    init(connecting failure: BusFailure) {
        self =
            if failure.number == ELIBACC {
                .notAvailable(
                    "libsystemd.so.0 cannot be loaded (\(failure.text)): install libsystemd0 or systemd-libs")
            } else {
                .notAvailable("the system's message bus cannot be reached (\(failure.text)): install and start dbus")
            }
    }

    init(_ failure: CallFailure) {
        self =
            switch failure {
            case .cancelled: .cancelled
            case .noAnswer: .failed("fprintd does not answer")
            case .lost(let failure): .failed("the connection to fprintd broke off: \(failure.text)")
            case .refused(let failure): BiometryFailure(refused: failure)
            }
    }

    private init(refused failure: BusFailure) {
        let (bus, fprint) = ("org.freedesktop.DBus.Error.", "net.reactivated.Fprint.Error.")
        self =
            switch failure.name {
            case bus + "ServiceUnknown", bus + "NameHasNoOwner":
                .notAvailable("there is no fprintd, which runs fingerprint readers: install fprintd")
            case fprint + "NoSuchDevice", bus + "UnknownObject", bus + "UnknownMethod":
                .notAvailable("the fingerprint reader is not there any more (\(failure.text))")
            case fprint + "PermissionDenied", bus + "AccessDenied":
                .notAvailable(
                    """
                    this process may not use the fingerprint reader (\(failure.text)): polkit allows it to programs of \
                    an active local session; for others, install Packaging/polkit/50-keychain-biometry.rules as \
                    docs/daemon.md says
                    """)
            case fprint + "AlreadyInUse": .busy("another program uses the fingerprint reader")
            case fprint + "NoEnrolledPrints": .notEnrolled("no finger of this user is enrolled")
            case _ where failure.name.hasPrefix(bus + "Spawn."), bus + "TimedOut":
                .notAvailable("fprintd cannot be started: \(failure.text)")
            case bus + "NoReply": .failed("fprintd ended before it answered")
            default: .failed("fprintd says: \(failure.text)")
            }
    }
}
