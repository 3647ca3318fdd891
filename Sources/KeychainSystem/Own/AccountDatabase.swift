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
    package static func user(named name: String) throws(SystemError) -> uid_t? {
        try entry({ getpwnam_r(name, $0, $1, $2, $3) }) { $0.pw_uid }
    }

    /// nil: no group has the name.
    package static func group(named name: String) throws(SystemError) -> gid_t? {
        try entry({ getgrnam_r(name, $0, $1, $2, $3) }) { $0.gr_gid }
    }

    /// The users that have a group: those that its entry lists, and those whose first group it is.
    package static func members(of group: gid_t) throws(SystemError) -> [String] {
        let listed = try entry({ getgrgid_r(group, $0, $1, $2, $3) }) { entry in
            var names: [String] = []
            var next = entry.gr_mem
            while let name = next?.pointee {
                names.append(String(cString: name))
                next = next?.successor()
            }
            return names
        }
        return try (listed ?? []) + entries(withFirstGroup: group).map(\.name)
    }

    /// getpwent(3) has one place for all threads.
    private static let enumeration = Mutex(())

    struct Account {
        let name: String
        let user: uid_t
        let home: String
    }

    /// The accounts whose first group it is.
    ///
    /// - Returns: No account if the list cannot be read.
    static func accounts(withFirstGroup group: gid_t) -> [Account] {
        (try? entries(withFirstGroup: group)) ?? []
    }

    private static func entries(withFirstGroup group: gid_t) throws(SystemError) -> [Account] {
        try enumeration.withLock { _ throws(SystemError) in
            setpwent()
            defer { endpwent() }
            var found: [Account] = []
            var hasRoot = false
            while let entry = getpwent() {
                if entry.pointee.pw_gid == group {
                    found.append(
                        Account(
                            name: String(cString: entry.pointee.pw_name), user: entry.pointee.pw_uid,
                            home: String(cString: entry.pointee.pw_dir)))
                }
                hasRoot = hasRoot || entry.pointee.pw_uid == 0
            }
            // A list that could not be read looks like a short one.
            guard hasRoot else { throw SystemError("read the list of accounts", errno) }
            return found
        }
    }

    private static func text(_ user: uid_t, _ field: (passwd) -> UnsafeMutablePointer<CChar>?) -> String? {
        let text = try? entry({ getpwuid_r(user, $0, $1, $2, $3) }) { entry in field(entry).map { String(cString: $0) }
        }
        return text ?? nil
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
    ) throws(SystemError) -> Value? {
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
            if let found, failure == 0 { return value(found.pointee) }
            switch failure {
            case 0, ENOENT, ESRCH: return nil
            // A group can have many members.
            case ERANGE where count < 16 << 20: count *= 2
            default: throw SystemError("look up an account", failure)
            }
        }
    }
}
