internal import KeychainSystem

/// Copies of keys in registers and on the stack. The buffers that hold keys are erased by their owners; the cipher's own
/// frames and registers, and the compiler's copies, have no owner.
package enum KeyTraces {
    /// Clears the registers and overwrites the stack below the caller, as far as a call of the engine uses it.
    package static func erase() { ckeychain_erase_traces(ckeychain_call_stack()) }

    /// Erases the stack as far as the cipher uses it, after work with the key of one file outside of any call of the
    /// engine.
    static func eraseOfCipher() { ckeychain_erase_traces(ckeychain_cipher_stack()) }
}
