internal import Glibc

/// What the system's list of accounts says about the user whose rights this process has.
enum AccountDatabase {
    static var homeDirectory: String? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16 << 10)
        guard getpwuid_r(geteuid(), &entry, &buffer, buffer.count, &found) == 0, found != nil,
            let directory = entry.pw_dir
        else { return nil }
        return String(cString: directory)
    }
}
