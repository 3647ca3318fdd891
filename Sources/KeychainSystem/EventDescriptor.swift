/// A descriptor that a thread can wait for beside others (poll(2)), and another thread sets.
///
/// It is open for as long as a thread may still set it.
package final class EventDescriptor: Sendable {
    /// Readable while it is set.
    package let descriptor: OpenDescriptor

    package init() throws(SystemError) {
        var number: Int32 = -1
        let failure = ckeychain_open_event(&number)
        guard failure == 0 else { throw SystemError("open an event descriptor", failure) }
        descriptor = OpenDescriptor(number)
    }

    package var number: Int32 { descriptor.number }

    package func set() { ckeychain_set_event(number) }
    package func clear() { ckeychain_clear_event(number) }
}
