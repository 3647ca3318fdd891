internal import Glibc

/// The system's list of accounts, for the user whose rights this process has.
enum AccountDatabase {
    static var homeDirectory: String? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16 << 10)
        // The entry points into the buffer, so the text is copied while that is sure to be there.
        return buffer.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress,
                getpwuid_r(geteuid(), &entry, start, buffer.count, &found) == 0, found != nil,
                let directory = entry.pw_dir
            else { return nil }
            return String(cString: directory)
        }
    }
}
