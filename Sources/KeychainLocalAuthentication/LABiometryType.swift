/// The type tells which kind of reader a machine has for fingers or faces.
public enum LABiometryType: Int, Sendable {
    /// The machine has no reader, or its service or the keychain does not answer.
    case none = 0
    /// The machine has a fingerprint reader, of any make, which fprintd serves.
    ///
    /// A reader of fingers that the program itself brings along has this type too.
    case touchID = 1
    /// The program brings along a reader of faces, since Linux has no common service for them.
    case faceID = 2
    /// No machine has a reader of irises here, so no context has this type.
    case opticID = 4
}
