package import Glibc
internal import Synchronization

/// The system's list of accounts.
package enum AccountDatabase {
    /// That of the user whose rights this process has.
    static var homeDirectory: String? { home(of: geteuid()) }

    /// nil: no account has the number.
    static func home(of user: uid_t) -> String? { text(user) { $0.pw_dir } }

    /// nil: no account has the number.
    package static func name(of user: uid_t) -> String? { text(user) { $0.pw_name } }

    /// nil: no account has the number.
    package static func shell(of user: uid_t) -> String? { text(user) { $0.pw_shell } }

    /// nil: no account has the name.
    package static func user(named name: String) -> uid_t? {
        entry({ getpwnam_r(name, $0, $1, $2, $3) }) { $0.pw_uid }
    }

    /// nil: no group has the name.
    package static func group(named name: String) -> gid_t? {
        entry({ getgrnam_r(name, $0, $1, $2, $3) }) { $0.gr_gid }
    }

    /// The users that have a group: those that its entry lists, and those whose first group it is.
    package static func members(of group: gid_t) -> [String] {
        let listed = entry({ getgrgid_r(group, $0, $1, $2, $3) }) { entry in
            var names: [String] = []
            var next = entry.gr_mem
            while let name = next?.pointee {
                names.append(String(cString: name))
                next = next?.successor()
            }
            return names
        }
        return (listed ?? []) + users(withFirstGroup: group)
    }

    /// getpwent(3) has one place for all threads.
    private static let enumeration = Mutex(())

    private static func users(withFirstGroup group: gid_t) -> [String] {
        enumeration.withLock { _ in
            setpwent()
            defer { endpwent() }
            var names: [String] = []
            while let entry = getpwent() {
                if entry.pointee.pw_gid == group { names.append(String(cString: entry.pointee.pw_name)) }
            }
            return names
        }
    }

    private static func text(_ user: uid_t, _ field: (passwd) -> UnsafeMutablePointer<CChar>?) -> String? {
        entry({ getpwuid_r(user, $0, $1, $2, $3) }) { entry in field(entry).map { String(cString: $0) } } ?? nil
    }

    /// - Parameters:
    ///   - read: A function of getpwnam(3) or getgrnam(3) that takes a buffer.
    ///   - value: The entry points into the buffer, and is valid during this call alone.
    private static func entry<Entry, Value>(
        _ read: (
            UnsafeMutablePointer<Entry>, UnsafeMutablePointer<CChar>, Int,
            UnsafeMutablePointer<UnsafeMutablePointer<Entry>?>
        ) -> Int32,
        _ value: (Entry) -> Value
    ) -> Value? {
        var count = 16 << 10
        while true {
            let entry = UnsafeMutablePointer<Entry>.allocate(capacity: 1)
            let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: count)
            defer {
                entry.deallocate()
                buffer.deallocate()
            }
            var found: UnsafeMutablePointer<Entry>?
            let failure = read(entry, buffer, count, &found)
            // A group can have many members.
            if failure == ERANGE && count < 16 << 20 {
                count *= 2
                continue
            }
            return failure == 0 ? found.map { value($0.pointee) } : nil
        }
    }
}
