internal import Foundation
internal import KeychainModel

/// How many bytes a look-up takes there and back.
struct FrameSizes {
    let request: Int
    let reply: Int

    init(lookingUp item: SampleItem, gave reply: Reply) throws {
        request = try ClientMessage.request(id: 1, item.findRequest).frame().byteCount
        self.reply = DaemonMessage.reply(id: 1, reply, isLast: true).frame().byteCount
    }
}

extension WireFrame {
    fileprivate var byteCount: Int { WireHeader.byteCount + header.messageCount + header.tailCount }
}

/// `echo serve`, for as long as this is held.
final class EchoServer {
    private let place: SocketPlace
    private let process = Process()
    private let program: String
    private let sizes: FrameSizes

    init(_ program: String, _ sizes: FrameSizes) throws {
        self.program = program
        self.sizes = sizes
        place = try SocketPlace()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = ["serve", place.socket.path, String(sizes.reply)]
        try process.run()
        try place.waitForListener(process)
    }

    deinit {
        process.terminate()
        process.waitUntilExit()
    }

    /// One client, asked with "echo".
    func client() throws -> LineProcess { try LineProcess(program, ["ask"] + arguments) }

    /// Many clients.
    func load(processes: Int, clients: Int) throws -> LoadGroup {
        try LoadGroup(program, (0..<processes).map { _ in ["load"] + arguments + [String(clients)] })
    }

    private var arguments: [String] { [place.socket.path, String(sizes.request), String(sizes.reply)] }
}
