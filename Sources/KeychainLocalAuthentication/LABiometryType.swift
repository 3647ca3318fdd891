/// The kind of reader that a device has. A fingerprint reader of any make is ``touchID``.
public enum LABiometryType: Int, Sendable {
    case none = 0
    case touchID = 1
    case faceID = 2
    case opticID = 4
}
