internal import CKeychainLinux
internal import FoundationEssentials
internal import Glibc
internal import KeychainModel
package import KeychainSystem
internal import Logging

/// The service manager that started this process, if one did and wants to know how it is (sd_notify(3)).
package struct ServiceManager: Sendable {
    private let socket: String?
    /// How often it must hear that all is well; nil: it need not.
    let watchdogTime: Duration?

    package init(_ environment: Environment) {
        let variables = environment.variables
        socket = variables["NOTIFY_SOCKET"].flatMap { $0.hasPrefix("/") || $0.hasPrefix("@") ? $0 : nil }
        let isMeant = variables["WATCHDOG_PID"].map { $0 == String(getpid()) } ?? true
        watchdogTime =
            isMeant
            ? variables["WATCHDOG_USEC"].flatMap { Int64($0) }.flatMap { $0 > 0 ? .microseconds($0) : nil } : nil
    }

    package var isThere: Bool { socket != nil }

    /// Clients can connect from now on.
    package func tellReady() { tell("READY=1") }

    package func tellStopping() { tell("STOPPING=1", "STATUS=Ending") }

    /// The line that `systemctl status` shows.
    package func tell(status: String) { tell("STATUS=\(status)") }

    func tellAlive() { tell("WATCHDOG=1") }

    private func tell(_ lines: String...) {
        guard let socket else { return }
        // A line is a field of its own to the manager. It does not answer, and there is nothing to do if it is gone.
        let text = lines.map { $0.split(whereSeparator: \.isNewline).joined(separator: " ") }.joined(separator: "\n")
        _ = text.utf8.withContiguousStorageIfAvailable { ckeychain_datagram(socket, $0.baseAddress!, $0.count) }
    }
}
