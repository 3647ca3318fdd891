package import Foundation
internal import Glibc
package import KeychainClient
internal import KeychainModel
internal import SwiftKeychain

/// A real `keychaind`, run as a process.
package final class DaemonProcess {
    package static let executable = BuiltProducts.url(of: "keychaind")

    package let socket: String
    private let program: URL
    private let arguments: [String]
    private let environment: [String: String]?
    private var process: Process?

    /// - Parameters:
    ///   - socket: Where it will listen, which its arguments or its environment say.
    ///   - environment: nil: that of this process.
    package init(
        _ program: URL = executable, arguments: [String], socket: String, environment: [String: String]? = nil
    ) {
        self.program = program
        self.arguments = ["--user", "--log-level", "error"] + arguments
        self.socket = socket
        self.environment = environment
    }

    /// One that has everything in a directory: `socket`, `store`, `device`.
    package convenience init(_ program: URL = executable, in directory: URL, _ arguments: [String] = []) {
        let places = ["socket", "store", "device"].map { directory.appendingPathComponent($0).path }
        self.init(
            program, arguments: ["--socket", places[0], "--store", places[1], "--device-key", places[2]] + arguments,
            socket: places[0])
    }

    package var identifier: pid_t { process?.processIdentifier ?? -1 }

    /// A way to it.
    package var carrier: SocketCarrier { SocketCarrier(socketPath: socket) }

    /// Starts it, and returns when it answers.
    package func start() throws {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        if let environment { process.environment = environment }
        try process.run()
        self.process = process
        let end = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < end && process.isRunning {
            // What keeps it from answering is said when the time is over.
            if (try? carrier.handle(.lockStatus, from: Caller(groups: []))) != nil { return }
            usleep(5_000)
        }
        throw KeychainError(.notAvailable, message: "keychaind does not answer at \(socket)")
    }

    /// `kill -9`; returns when it is gone.
    package func kill() {
        guard let process else { return }
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        self.process = nil
    }

    /// Asks it to end.
    ///
    /// - Returns: how it ended.
    package func stop() -> Int32 {
        process?.terminate()
        return ending()
    }

    /// Waits for it to end by itself.
    ///
    /// - Returns: its exit status, or the negative number of the signal that ended it.
    package func ending() -> Int32 {
        guard let process else { return -1 }
        process.waitUntilExit()
        self.process = nil
        return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    }

    /// What the kernel says of its size.
    package struct Size {
        package var residentKilobytes = 0
        /// The most that was ever resident.
        package var peakKilobytes = 0
        /// nil: only root is told of a daemon's, which nobody else may look into.
        package var descriptors: Int?
        package var threads = 0
    }

    package var size: Size {
        get throws {
            var size = Size()
            // Not by the size of the file, which is said to be 0.
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/\(identifier)/status"))
            for line in String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self).split(separator: "\n") {
                let fields = line.split(whereSeparator: \.isWhitespace)
                guard fields.count > 1, let number = Int(fields[1]) else { continue }
                if fields[0] == "VmRSS:" { size.residentKilobytes = number }
                if fields[0] == "VmHWM:" { size.peakKilobytes = number }
                if fields[0] == "Threads:" { size.threads = number }
            }
            if geteuid() == 0 {
                size.descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(identifier)/fd").count
            }
            return size
        }
    }
}
