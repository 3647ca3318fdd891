internal import CKeychainLinux

/// What operations with keys leave where nobody looks after it.
enum KeyTraces {
    /// Clears the registers and overwrites the stack below the caller. Keys are handled in buffers that are erased, but the
    /// cipher's own frames and registers, and the compiler's copies, are not among them.
    static func erase() { ckeychain_erase_traces() }
}
