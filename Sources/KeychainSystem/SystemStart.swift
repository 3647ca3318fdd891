package import Foundation

/// What tells one start of the system from another.
package enum SystemStart {
    /// nil where the kernel hides it. Read once: it does not change while a process lives.
    package static let id: UUID? = {
        let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        return text.flatMap { UUID(uuidString: $0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }()
}
