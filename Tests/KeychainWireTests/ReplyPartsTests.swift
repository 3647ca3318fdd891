import Foundation
import KeychainModel
import KeychainTestSupport
import KeychainWire
import Testing

/// Answers in several frames.
@Suite struct ReplyPartsTests {
    @Test("An answer in parts is the same answer when they are joined", arguments: [1, 100, 1_000, 10_000, 1 << 20])
    func joining(limit: Int) throws {
        for reply in ReplySamples.all + [.found(items(50)), .exported(part(of: 50))] {
            let parts = try parts(of: reply, limit: limit)
            #expect(parts.map(\.isLast) == Array(repeating: false, count: parts.count - 1) + [true])
            var joined = try #require(parts.first).reply
            for part in parts.dropFirst() { try joined.append(part.reply) }
            #expect(Structure(joined) == Structure(reply))
        }
    }

    @Test("No frame is much larger than the limit, and none much smaller than it could be")
    func sizes() throws {
        var sizes: [Int] = []
        DaemonMessage.forEachFrame(of: .found(items(500)), id: 1, limit: 8_192) { frame in
            sizes.append(frame.message.count + frame.tailBytes.count)
        }
        #expect(sizes.count > 10)
        #expect(sizes.allSatisfy { $0 < 8_192 + 100 })
        #expect(sizes.dropLast().allSatisfy { $0 > 4_096 })
    }

    @Test("An item that is larger than the limit has a frame of its own")
    func largeItem() throws {
        var items = items(3)
        items[1].secret = SecretBytes(copying: Data(count: 10_000))
        let parts = try parts(of: .found(items), limit: 1_000)
        #expect(
            parts.map {
                guard case .found(let items) = $0.reply else { return 0 }
                return items.count
            } == [1, 1, 1])
    }

    @Test("An answer that finds nothing, and one that fits, is one frame")
    func oneFrame() throws {
        #expect(try parts(of: .found([]), limit: 1).map(\.isLast) == [true])
        #expect(try parts(of: .exported(ExportedPart()), limit: 1).map(\.isLast) == [true])
        #expect(try parts(of: .found(items(3)), limit: 1 << 20).count == 1)
    }

    @Test("A frame is made only when the one before it was dealt with")
    func laziness() {
        struct Enough: Error {}
        var count = 0
        #expect(throws: Enough.self) {
            try DaemonMessage.forEachFrame(of: .found(items(100)), id: 1, limit: 1) { _ in
                count += 1
                if count == 3 { throw Enough() }
            }
        }
        #expect(count == 3)
    }

    @Test("Parts of two answers are not joined")
    func foreignParts() {
        for reply in ReplySamples.bare {
            for part in ReplySamples.bare {
                if case (.found, .found) = (reply, part) { continue }
                if case (.exported, .exported) = (reply, part) { continue }
                var joined = reply
                let error = #expect(throws: KeychainError.self) { try joined.append(part) }
                #expect(error?.code == .decode)
                #expect(Structure(joined) == Structure(reply))
            }
        }
    }

    private func parts(of reply: Reply, limit: Int) throws -> [(reply: Reply, isLast: Bool)] {
        var frames: [WireFrame] = []
        DaemonMessage.forEachFrame(of: reply, id: 7, limit: limit) { frames.append($0) }
        return try frames.map { frame in
            guard case .reply(7, let reply, let isLast) = try DaemonMessage(message: frame.message, tail: frame.tail)
            else { throw KeychainError(.decode, message: "another message arrived") }
            return (reply, isLast)
        }
    }

    private func items(_ count: Int) -> [Item] {
        (0..<count).map { number in
            var item = RequestSamples.item
            item.identifier = UUID()
            item.attributes[.label] = .text("item \(number)")
            item.secret = number % 3 == 0 ? nil : SecretBytes(String(repeating: "s", count: number % 3 * 500))
            return item
        }
    }

    private func part(of count: Int) -> ExportedPart {
        var part = ReplySamples.part
        part.items = items(count)
        return part
    }
}
