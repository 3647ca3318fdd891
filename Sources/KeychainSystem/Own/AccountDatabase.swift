package import Glibc

/// The system's list of accounts.
package enum AccountDatabase {
    /// That of the user whose rights this process has.
    static var homeDirectory: String? { home(of: geteuid()) }

    /// nil: no account has the number.
    static func home(of user: uid_t) -> String? { text(user) { $0.pw_dir } }

    /// nil: no account has the number.
    package static func name(of user: uid_t) -> String? { text(user) { $0.pw_name } }

    private static func text(_ user: uid_t, _ field: (passwd) -> UnsafeMutablePointer<CChar>?) -> String? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16 << 10)
        // The entry points into the buffer, so the text is copied while that is sure to be there.
        return buffer.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress,
                getpwuid_r(user, &entry, start, buffer.count, &found) == 0, found != nil, let value = field(entry)
            else { return nil }
            return String(cString: value)
        }
    }
}
