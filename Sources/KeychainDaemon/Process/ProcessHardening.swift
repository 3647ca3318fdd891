internal import CKeychainLinux
internal import Glibc
package import KeychainModel
internal import KeychainSystem

/// The measures that make this process harder to look into, before it has its first secret.
package enum ProcessHardening {
    /// Descriptors that its parent handed to it stay open: Foundation's `Process`, for one, takes their end for the end
    /// of this process, and waits for that.
    ///
    /// - Throws: `.notAvailable` if its memory cannot be hidden.
    package static func apply() throws(KeychainError) {
        // Another process of this user could read the memory, or have it written to a core file.
        let failure = ckeychain_hide_process()
        guard failure == 0 else {
            throw KeychainError(
                .notAvailable, message: "this process cannot be hidden (\(String(cString: strerror(failure))))")
        }
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        umask(0o077)
        StandardStreams.makeSafe()
    }

    /// Raises the number of descriptors that this process may have, as far as it is allowed to.
    ///
    /// - Returns: how many it may have now.
    package static func raiseDescriptorLimit(to count: Int) -> Int {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        getrlimit(resource, &limit)
        if limit.rlim_cur < rlim_t(count) {
            limit.rlim_cur = min(rlim_t(count), limit.rlim_max)
            setrlimit(resource, &limit)
            getrlimit(resource, &limit)
        }
        return Int(clamping: limit.rlim_cur)
    }
}
