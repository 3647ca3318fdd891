import Foundation
import Glibc
import KeychainModel
import KeychainWire
import Synchronization

/// A program that listens where a daemon would, and does with each connection what a test says.
final class FakeDaemon: Sendable {
    /// One connection, seen from the daemon.
    struct Peer {
        let descriptor: Int32

        /// nil: the client has ended the connection.
        func receive() throws -> ClientMessage? {
            guard let header = read(WireHeader.byteCount) else { return nil }
            let counts = header.withUnsafeBytes { WireHeader($0) }
            guard let message = read(counts.messageCount), let tail = read(counts.tailCount) else { return nil }
            return try ClientMessage(message: message, tail: tail.isEmpty ? nil : SecretBytes(copying: tail))
        }

        /// nil: the client has ended the connection before that much came.
        func read(_ count: Int) -> Data? {
            var data = Data(count: count)
            var done = 0
            while done < count {
                let result = data.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress! + done, count - done, 0) }
                guard result > 0 else { return nil }
                done += result
            }
            return data
        }

        func send(_ message: DaemonMessage) { send(message.frame()) }

        func send(_ frame: WireFrame) {
            var bytes = Data(count: WireHeader.byteCount)
            bytes.withUnsafeMutableBytes { frame.header.write(to: $0) }
            bytes += frame.message
            for secret in frame.secrets { bytes += secret.copyData() }
            send(bytes)
        }

        func send(_ bytes: Data) {
            bytes.withUnsafeBytes { bytes in
                var done = 0
                while done < bytes.count {
                    let count = Glibc.send(
                        descriptor, bytes.baseAddress! + done, bytes.count - done, Int32(MSG_NOSIGNAL))
                    guard count > 0 else { return }
                    done += count
                }
            }
        }

        /// Answers the hello; false: there was none.
        func welcome(givesSigns: Bool = false) throws -> Bool {
            guard case .hello = try receive() else { return false }
            send(
                .welcome(
                    DaemonWelcome(instance: UUID(), processID: getpid(), release: "fake", givesSigns: givesSigns)))
            return true
        }
    }

    private let listener: Int32
    private let open = Mutex<[Int32]>([])
    private let isOver = Atomic(false)

    /// - Parameter serve: Run by a thread for each connection; its number counts from 0. The connection ends with it.
    init(at path: String, _ serve: @escaping @Sendable (Peer, Int) throws -> Void) throws {
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        unlink(path)
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, size) }
        }
        guard bound == 0, listen(listener, 64) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        Thread { [self] in accept(serve) }.start()
    }

    private func accept(_ serve: @escaping @Sendable (Peer, Int) throws -> Void) {
        var count = 0
        while true {
            let connection = Glibc.accept(listener, nil, nil)
            if connection < 0 || isOver.load(ordering: .acquiring) {
                if connection >= 0 { close(connection) }
                // Here and nowhere else: while this waited, another file would have got the number.
                close(listener)
                return
            }
            open.withLock { $0.append(connection) }
            let number = count
            count += 1
            Thread { [self] in
                // A client that sends what is no message has its connection ended, as in life.
                try? serve(Peer(descriptor: connection), number)
                end(connection)
            }.start()
        }
    }

    private func end(_ connection: Int32) {
        open.withLock { open in
            guard let index = open.firstIndex(of: connection) else { return }
            open.remove(at: index)
            close(connection)
        }
    }

    /// Ends every connection and listens no more, as `kill -9` does.
    func stop() {
        guard !isOver.exchange(true, ordering: .acquiringAndReleasing) else { return }
        shutdown(listener, Int32(SHUT_RDWR))
        open.withLock { open in for connection in open { shutdown(connection, Int32(SHUT_RDWR)) } }
    }
}
