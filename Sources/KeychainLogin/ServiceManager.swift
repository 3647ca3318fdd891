internal import CKeychainLinux
internal import Glibc
package import KeychainSystem

/// The service manager that started this process, if one did and wants to know how it is (sd_notify(3)).
package struct ServiceManager: Sendable {
    private let socket: String?
    /// How often it must hear that all is well; nil: it need not.
    package let watchdogTime: Duration?

    package init(_ environment: Environment) {
        let variables = environment.variables
        socket = variables["NOTIFY_SOCKET"].flatMap { $0.isEmpty ? nil : $0 }
        let isMeant = variables["WATCHDOG_PID"].map { $0 == String(getpid()) } ?? true
        watchdogTime =
            isMeant
            ? variables["WATCHDOG_USEC"].flatMap { Int64($0) }.flatMap { $0 > 0 ? .microseconds($0) : nil } : nil
    }

    package var isThere: Bool { socket != nil }

    /// Clients can connect, or the session is watched, from now on.
    ///
    /// - Returns: 0, or an errno value if the manager cannot be reached.
    @discardableResult
    package func tellReady() -> Int32 { tell("READY=1") }

    package func tellStopping() { tell("STOPPING=1", "STATUS=Ending") }

    /// The line that `systemctl status` shows.
    package func tell(status: String) { tell("STATUS=\(status)") }

    package func tellAlive() { tell("WATCHDOG=1") }

    @discardableResult
    private func tell(_ lines: String...) -> Int32 {
        guard let socket else { return 0 }
        guard socket.hasPrefix("/") || socket.hasPrefix("@") else { return EAFNOSUPPORT }
        // A line is a field of its own to the manager, which does not answer.
        let text = lines.map { $0.split(whereSeparator: \.isNewline).joined(separator: " ") }.joined(separator: "\n")
        return ckeychain_datagram(socket, text, text.utf8.count)
    }
}
