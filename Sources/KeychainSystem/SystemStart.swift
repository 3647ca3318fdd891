package import FoundationEssentials
internal import Glibc

/// The marks by which one start of the system is told from another.
package enum SystemStart {
    /// nil where the kernel hides it. Read once: it does not change while a process lives.
    package static let id: UUID? = {
        let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        return text.flatMap { UUID(uuidString: $0.trimming(while: \.isWhitespace)) }
    }()

    /// Nanoseconds since then, those asleep included.
    package static var age: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec) &- namespaceOffset
    }

    /// How far the clock is moved in this process's time namespace (time_namespaces(7)); 0 where there are none. Times
    /// are written down without it, since processes of other namespaces read them too.
    package static let namespaceOffset: UInt64 = {
        let text = (try? String(contentsOfFile: "/proc/self/timens_offsets", encoding: .utf8)) ?? ""
        // "boottime", seconds, nanoseconds.
        let fields = text.split(separator: "\n").map { $0.split(separator: " ") }.first { $0.first == "boottime" } ?? []
        guard fields.count == 3, let seconds = Int64(fields[1]), let nanoseconds = Int64(fields[2]) else { return 0 }
        return UInt64(bitPattern: seconds &* 1_000_000_000 &+ nanoseconds)
    }()
}
