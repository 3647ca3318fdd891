internal import CKeychainLinux

/// This process, which has keys and content in its memory.
enum HiddenProcess {
    /// Keeps other programs of this user from reading the memory, and the kernel from writing it to a core file.
    ///
    /// - Returns: false if the kernel refuses.
    static func begin() -> Bool {
        ckeychain_limit_cores()
        return ckeychain_hide_process() == 0
    }
}
