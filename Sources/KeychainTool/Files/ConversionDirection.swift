internal import DataProtection

/// The directions of `file protect` and `file unprotect`.
enum ConversionDirection {
    /// nil: the class that the directory gives.
    case protect(FileProtection?)
    case unprotect

    var isProtecting: Bool {
        if case .protect = self { true } else { false }
    }
}
