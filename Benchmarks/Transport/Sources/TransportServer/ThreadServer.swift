import Glibc

/// A thread for each connection, which waits in `recvmsg`.
enum ThreadServer {
    static func run(_ listener: Int32, rounds: UInt64) -> Never {
        acceptAll(listener, rounds: rounds) { connection in
            startThread { while connection.answerNext() {} }
        }
    }
}
