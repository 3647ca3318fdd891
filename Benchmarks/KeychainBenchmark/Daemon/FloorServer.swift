internal import Foundation
internal import KeychainModel
import KeychainWire

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

/// `floor answer`, for as long as this is held: a server in C that does the same work on the floor's own store.
final class FloorServer {
    private let place: SocketPlace
    private let process = Process()
    private let client: String
    private let sizes: FrameSizes

    init(_ floor: String, client: String, _ layout: StoreLayout, _ sizes: FrameSizes) throws {
        self.client = client
        self.sizes = sizes
        place = try SocketPlace()
        process.executableURL = URL(fileURLWithPath: floor)
        process.arguments = ["answer", layout.floor.path, place.socket.path, String(sizes.reply)]
        try process.run()
        try place.waitForListener(process)
    }

    deinit {
        process.terminate()
        process.waitUntilExit()
    }

    /// One client, asked with "ask".
    func oneClient() throws -> LineProcess { try LineProcess(client, ["ask"] + arguments) }

    /// Many clients.
    func load(processes: Int, clients: Int) throws -> LoadGroup {
        try LoadGroup(client, (0..<processes).map { _ in ["load"] + arguments + [String(clients)] })
    }

    private var arguments: [String] { [place.socket.path, String(sizes.request), String(sizes.reply)] }
}
