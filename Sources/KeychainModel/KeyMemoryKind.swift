/// The memory in which keys stay, the best kind first.
package enum KeyMemoryKind: String, Sendable, Hashable, CaseIterable {
    /// Out of the kernel's own reach, and with it of debuggers and of root (memfd_secret(2)).
    case secret
    /// Out of swap and of core dumps.
    case locked
    /// Out of core dumps: the system allows this process no locked memory.
    case ordinary
}
