import Foundation
import KeychainModel
import KeychainTestSupport
import KeychainWire
import Testing

/// The worked example of docs/protocol.md, whose messages were encoded by another implementation (`protoc --encode`).
@Suite struct ProtocolExampleTests {
    @Test("The frames of the document are those that are sent")
    func frames() throws {
        var add = AddRequest(.genericPassword)
        add.attributes = [.account: .text("alice"), .service: .text("mail")]
        add.secret = SecretBytes("hunter2")
        let item = Item(
            itemClass: .genericPassword, identifier: RequestSamples.identifier, attributes: add.attributes,
            accessGroup: "mytool", synchronizable: false, accessControl: AccessControl(.whenUnlocked),
            created: 800_000_000.5, modified: 800_000_000.5, secret: add.secret)
        var query = ItemQuery(.genericPassword)
        query.attributes = [.account: .text("bob")]
        let instance = UUID(uuidString: "10111213-1415-4617-8819-1A1B1C1D1E1F")!
        let notFound = KeychainError(.itemNotFound, message: "no generic password matches account")
        let frames = [
            try ClientMessage.hello(ClientHello(groups: ["mytool"], authority: .groups)).frame(),
            DaemonMessage.welcome(DaemonWelcome(instance: instance, processID: 4711, release: "0.1.0")).frame(),
            try ClientMessage.request(id: 1, .add(add)).frame(),
            DaemonMessage.reply(id: 1, .added(item), isLast: true).frame(),
            try ClientMessage.request(id: 2, .delete(query)).frame(),
            DaemonMessage.failure(id: 2, notFound).frame(),
            DaemonMessage.goodbye(DaemonGoodbye(.shuttingDown, "the daemon ends", lastRequest: 2)).frame(),
        ]
        #expect(frames.map { $0.bytes.hexadecimal } == (try documentedFrames()))
    }

    /// The blocks of the example, without what is said beside the bytes.
    private func documentedFrames() throws -> [String] {
        let document = try String(contentsOf: Repository.file("docs/protocol.md"), encoding: .utf8)
        let example = try #require(document.split(separator: "## Worked example").last)
        return example.split(separator: "```").enumerated().filter { $0.offset % 2 == 1 }.map { _, block in
            block.split(separator: "\n").map { line in
                let bytes = line.drop { $0 == " " }.split(separator: "  ", maxSplits: 1).first ?? ""
                return bytes.allSatisfy { $0.isHexDigit || $0 == " " } ? bytes.filter { $0 != " " } : ""
            }.joined()
        }
    }
}

extension WireFrame {
    /// As they go over a socket.
    fileprivate var bytes: Data {
        var bytes = Data(count: WireHeader.byteCount)
        bytes.withUnsafeMutableBytes { header.write(to: $0) }
        return bytes + message + tailBytes
    }
}
