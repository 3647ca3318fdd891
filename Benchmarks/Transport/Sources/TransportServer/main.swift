// A server that answers every request with a reply of the same size, in one of several ways:
//
//   TransportServer threads|epoll|nio-1|nio-2|nio-1-pool PATH ROUNDS
//
// ROUNDS of work stand for what a keychain does for an answer.
import CTransport
import Glibc

func fail(_ message: String, status: Int32) -> Never {
    let line = "TransportServer: \(message)\n"
    write(STDERR_FILENO, line, line.utf8.count)
    exit(status)
}

func listener() -> Int32 {
    let socket = transport_listen(path)
    if socket < 0 { fail("\(path): \(String(cString: strerror(errno)))", status: 1) }
    return socket
}

let arguments = CommandLine.arguments
guard arguments.count == 4, let rounds = UInt64(arguments[3]) else {
    fail("usage: TransportServer threads|epoll|nio-1|nio-2|nio-1-pool PATH ROUNDS", status: 64)
}
let path = arguments[2]
let workers = 4

switch arguments[1] {
case "threads": ThreadServer.run(listener(), rounds: rounds)
case "epoll": PollServer.run(listener(), rounds: rounds, workers: workers)
case "nio-1": try NIOServer.run(path: path, rounds: rounds, loops: 1, poolThreads: 0)
case "nio-2": try NIOServer.run(path: path, rounds: rounds, loops: 2, poolThreads: 0)
case "nio-1-pool": try NIOServer.run(path: path, rounds: rounds, loops: 1, poolThreads: workers)
default: fail("no server is called \(arguments[1])", status: 64)
}
