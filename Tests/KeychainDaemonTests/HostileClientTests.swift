import CKeychainTestSupport
import Foundation
import KeychainBus
import KeychainModel
import KeychainTestSupport
import KeychainWire
import Testing

@testable import KeychainDaemon

/// Short, so that tests are; long enough for a machine that has much else to do.
private var impatient: Limits {
    var limits = Limits()
    limits.helloTime = .seconds(3)
    limits.frameTime = .seconds(1)
    limits.sendTime = .seconds(1)
    limits.memoryTime = .seconds(1)
    limits.frameBytes = 2 << 20
    limits.transferBytes = 3 << 20
    limits.bytesForSmallTransfers = 0
    return limits
}

/// Whether it does so, within a minute. Other threads are at it.
func comesTrue(_ condition: () -> Bool) -> Bool {
    let end = ContinuousClock.now + .seconds(60)
    while !condition() {
        guard ContinuousClock.now < end else { return false }
        usleep(1_000)
    }
    return true
}

@Suite struct HostileClientTests {
    /// A frame that has this header, and more bytes than it says.
    private static func frame(_ messageCount: UInt32, _ tailCount: UInt32, _ bytes: [UInt8] = []) -> [UInt8] {
        withUnsafeBytes(of: messageCount.bigEndian, Array.init) + withUnsafeBytes(of: tailCount.bigEndian, Array.init)
            + bytes
    }

    @Test(
        "Frames that are none end the connection, and no other",
        arguments: [
            frame(0, 0), frame(0, 5, [1, 2, 3, 4, 5]), frame(.max, 0), frame(1, .max), frame(2 << 20 + 1, 0),
            frame(1, 2 << 20), frame(1 << 20, 1 << 20 + 1), frame(3, 0, [0xff, 0xff, 0xff]), frame(1, 1, [0, 0]),
            frame(9, 0, Array("anything!".utf8)), Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8),
        ])
    func malformed(bytes: [UInt8]) throws {
        try withServer(FakeEngine(), limits: impatient) { server throws in
            for isGreeted in [false, true] {
                let client = isGreeted ? try server.connect() : try TestClient(server.path)
                try client.send(bytes: bytes)
                #expect(try client.goodbye().reason == .malformed)
            }
            #expect(try server.serves())
            #expect(server.hasLogged("\(getpid())"))
        }
    }

    @Test("Frames of every length and random bytes end in an answer or a goodbye")
    func random() throws {
        var generator = SeededGenerator(seed: 5)
        try withServer(FakeEngine(), limits: impatient) { server throws in
            for length in 0..<400 {
                let client = try server.connect()
                let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
                let tail = UInt32(length % 7)
                try client.send(bytes: Self.frame(UInt32(length), tail, bytes + Array(repeating: 7, count: Int(tail))))
                switch try client.receive() {
                case .goodbye(let goodbye): #expect(goodbye.reason == .malformed)
                case .failure, .event: break
                case let other: Issue.record("an answer to nothing: \(other)")
                }
            }
            #expect(try server.serves())
        }
    }

    @Test("A valid frame with one byte changed is answered, or ends in a goodbye")
    func flipped() throws {
        var generator = SeededGenerator(seed: 6)
        let whole = try TestClient.bytes(of: ClientMessage.request(id: 1, .add(secret: .of("secret"))).frame())
        try withServer(FakeEngine(), limits: impatient) { server throws in
            for index in WireHeader.byteCount..<whole.count {
                var bytes = whole
                bytes[index] ^= UInt8.random(in: 1...255, using: &generator)
                let client = try server.connect()
                try client.send(bytes: bytes)
                _ = try client.receive()
            }
            #expect(try server.serves())
        }
    }

    @Test("A frame that comes a byte at a time is cut off", arguments: [false, true])
    func dribble(isGreeted: Bool) throws {
        try withServer(FakeEngine(), limits: impatient) { server throws in
            let client = isGreeted ? try server.connect() : try TestClient(server.path)
            let bytes = try TestClient.bytes(of: .hello(ClientHello(groups: ["G"], authority: .groups)))
            for byte in bytes.dropLast() {
                // Cut off in the midst of it.
                guard (try? client.send(bytes: [byte])) != nil else { break }
                usleep(200_000)
            }
            #expect(try client.goodbye().reason == .tooSlow)
            #expect(try server.serves())
        }
    }

    @Test("A large frame that stops in its midst is cut off, and its memory is there for others")
    func half() throws {
        var limits = impatient
        // The last one is whole within it.
        limits.frameTime = .seconds(5)
        try withServer(FakeEngine(), limits: limits) { server throws in
            let clients = try (0..<3).map { _ in
                let client = try server.connect()
                try client.send(bytes: Self.frame(1 << 20, 0, Array(repeating: 1, count: 1000)))
                return client
            }
            for client in clients { #expect(try client.goodbye().reason == .tooSlow) }
            let secret = SecretBytes(count: 1 << 20) { _ in }
            guard case .done = try server.connect().ask(.add(secret: secret)) else {
                Issue.record("another answer")
                return
            }
        }
    }

    @Test("A large frame waits for memory for a while only, and small ones not at all")
    func memory() throws {
        let gate = Gate()
        let engine = FakeEngine { request, _ throws(KeychainError) in
            if case .add(let request) = request, (request.secret?.count ?? 0) > 10_000 { gate.wait() }
            return .done
        }
        var limits = impatient
        limits.frameTime = .seconds(60)
        try withServer(engine, limits: limits) { server throws in
            let secret = SecretBytes(count: 1 << 20) { _ in }
            let busy = try (0..<2).map { _ in
                let client = try server.connect()
                return (client, try client.begin(.add(secret: secret)))
            }
            gate.awaitArrival(of: 2)
            let late = try server.connect()
            // It may be closed before all is sent.
            _ = try? late.begin(.add(secret: secret))
            let goodbye = try late.goodbye()
            #expect(goodbye.reason == .tooSlow)
            #expect(goodbye.lastRequest == 0, "it was not begun, so it may be sent again")
            try server.connect().ask(.add(secret: .of("small")))
            gate.open()
            for (client, id) in busy { _ = try client.answer(to: id) }
        }
    }

    @Test("Who never reads the answers is cut off")
    func neverReads() throws {
        let engine = FakeEngine { _, _ throws(KeychainError) in .added(.password(SecretBytes(count: 1 << 20) { _ in }))
        }
        try withServer(engine, limits: impatient) { server throws in
            let client = try server.connect()
            try client.begin(.add(secret: .of("s")))
            #expect(server.hasLogged("does not read its answers"))
            #expect(throws: TestClient.Closed.self) { while true { _ = try client.receive() } }
            #expect(try server.serves())
        }
    }

    @Test("An answer that nobody reads keeps no place, and gives its memory to the next one")
    func unreadAnswers() throws {
        var query = ItemQuery(.genericPassword)
        query.limit = .all
        let request = Request.find(FindRequest(query, wantsSecrets: true))
        let engine = FakeEngine { request, _ throws(KeychainError) in
            .found([.password(SecretBytes(count: 2 << 20) { _ in })])
        }
        var limits = Limits()
        limits.largeAtOnce = 1
        limits.transferBytes = 5 << 20
        try withServer(engine, limits: limits) { server throws in
            let readers = try (0..<4).map { _ in
                let client = try server.connect()
                try client.begin(request)
                return client
            }
            // Two were cut off, and the two others have the memory.
            #expect(server.log.wait { $0.count { $0.contains("does not read its answers") } >= 2 })
            #expect(comesTrue { server.server.services.budget.takenBytes > 4 << 20 })
            let client = try server.connect()
            guard case .found(let items) = try client.ask(request) else {
                Issue.record("another answer")
                return
            }
            #expect(items.first?.secret?.count == 2 << 20)
            #expect(readers.count == 4)
        }
    }

    /// One for everything, in a frame with a field that nobody knows.
    private static func paddedSearch(_ id: UInt64, _ count: Int) throws -> [UInt8] {
        var query = ItemQuery(.genericPassword)
        query.limit = .all
        let request = try ClientMessage.request(id: id, .find(FindRequest(query, wantsSecrets: true))).frame().message
        let padding: [UInt8] =
            [0xa2, 0x1f] + [0, 7].map { UInt8(count >> $0 & 0x7f) | 0x80 } + [UInt8(count >> 14)]
            + Array(repeating: 0, count: count)
        return frame(UInt32(request.count + padding.count), 0, request + padding)
    }

    /// An engine that says beforehand what its answers take.
    private static func honestEngine(_ bytes: Int) -> FakeEngine {
        FakeEngine(need: { request, _ in if case .find = request { bytes } else { 0 } }) {
            _, _ throws(KeychainError) in .found([.password(SecretBytes(count: bytes - 1_000) { _ in })])
        }
    }

    @Test("An answer counts for what it takes, however large its request was", arguments: [0, 9_000, 60_000, 200_000])
    func padded(padding: Int) throws {
        try withServer(Self.honestEngine(10 << 20)) { server throws in
            let client = try server.connect()
            try client.send(bytes: try Self.paddedSearch(1, padding))
            // The first bytes of the answer are here, and the rest is there.
            var byte: UInt8 = 0
            #expect(recv(client.descriptor, &byte, 1, Int32(MSG_PEEK)) == 1)
            let taken = server.server.services.budget.takenBytes
            // The request is there meanwhile, with what such a message could be decoded to.
            let request = padding == 0 ? 0 : 136 * padding
            #expect(taken >= 10 << 20 - 1_000 + request && taken < 11 << 20 + request, "\(taken)")
            guard case .reply(1, .found, true) = try client.receive() else {
                Issue.record("another answer")
                return
            }
        }
    }

    @Test("Requests that have memory and need more do not wait for each other")
    func waitForEachOther() throws {
        var limits = Limits()
        // Room for the two requests, and for one answer beside nothing.
        (limits.transferBytes, limits.smallTransferBytes, limits.bytesForSmallTransfers) = (100_000, 0, 0)
        limits.memoryTime = .seconds(600)
        let gate = Gate()
        let engine = FakeEngine(need: { request, most in
            guard case .add = request else { return 0 }
            // Both are there before one of them asks for memory.
            if most < 90_000 { gate.wait() }
            return 90_000
        })
        try withServer(engine, limits: limits) { server throws in
            let clients = try (0..<2).map { _ in
                let client = try server.connect()
                try client.begin(.add(secret: SecretBytes(count: 40_000) { _ in }))
                return client
            }
            gate.awaitArrival(of: 2)
            gate.open()
            for client in clients {
                guard case .reply(1, .done, true) = try client.receive() else {
                    Issue.record("another answer")
                    return
                }
            }
            #expect(server.server.services.budget.takenBytes == 0)
        }
    }

    @Test("Of requests too large to give their memory back one waits for more, and the others are not begun")
    func largeRequestsNeedMore() throws {
        var limits = Limits()
        (limits.transferBytes, limits.smallTransferBytes, limits.bytesForSmallTransfers) = (400_000, 0, 0)
        limits.memoryTime = .seconds(600)
        let gate = Gate()
        let engine = FakeEngine(need: { request, most in
            guard case .add = request else { return 0 }
            if most < 300_000 { gate.wait() }
            return 300_000
        })
        try withServer(engine, limits: limits) { server throws in
            let clients = try (0..<2).map { _ in
                let client = try server.connect()
                try client.begin(.add(secret: SecretBytes(count: 150_000) { _ in }))
                return client
            }
            gate.awaitArrival(of: 2)
            gate.open()
            var (answers, refusals) = (0, 0)
            for client in clients {
                switch try client.receive() {
                case .reply(1, .done, true): answers += 1
                case .goodbye(let goodbye):
                    #expect(goodbye.reason == .tooSlow)
                    #expect(goodbye.lastRequest == 0, "it was not begun, so it may be sent again")
                    refusals += 1
                case let other: Issue.record("\(other)")
                }
            }
            #expect(answers == 1 && refusals == 1)
            // The threads give it back a moment later.
            #expect(comesTrue { server.server.services.budget.takenBytes == 0 })
        }
    }

    private static func deletions(_ count: Int) -> Request {
        .transaction(TransactionRequest(steps: Array(repeating: .delete(ItemQuery(.genericPassword)), count: count)))
    }

    @Test(
        "A request counts for what is decoded from it, also one that comes in a small frame",
        arguments: [100, 1_300, 10_000])
    func decoded(count: Int) throws {
        let gate = Gate()
        let engine = FakeEngine { request, _ throws(KeychainError) in
            if case .transaction = request { gate.wait() }
            return .done
        }
        var limits = Limits()
        limits.memoryTime = .milliseconds(200)
        try withServer(engine, limits: limits) { server throws in
            let budget = server.server.services.budget
            let client = try server.connect()
            let request = Self.deletions(count)
            let length = try ClientMessage.request(id: 1, request).frame().message.count
            let id = try client.begin(request)
            gate.awaitArrival()
            let taken = budget.takenBytes
            #expect(count == 100 ? taken == 0 : taken > 130 * length && taken < 140 * length, "\(taken) of \(length)")
            gate.open()
            _ = try client.answer(to: id)
        }
    }

    @Test("A request for whose content there is no memory is not begun, and may be sent again")
    func undecoded() throws {
        let gate = Gate()
        let engine = FakeEngine { request, _ throws(KeychainError) in
            if case .transaction = request { gate.wait() }
            return .done
        }
        var limits = impatient
        (limits.memoryTime, limits.frameTime) = (.milliseconds(200), .seconds(60))
        // Room for one of them.
        limits.transferBytes = 1_500_000
        try withServer(engine, limits: limits) { server throws in
            let busy = try server.connect()
            let id = try busy.begin(Self.deletions(1_300))
            gate.awaitArrival()
            for count in [1_300, 10_000] {
                let late = try server.connect()
                _ = try? late.begin(Self.deletions(count))
                let goodbye = try late.goodbye()
                #expect(goodbye.reason == .tooSlow && goodbye.lastRequest == 0)
            }
            try server.connect().ask(.find)
            gate.open()
            _ = try busy.answer(to: id)
        }
    }

    @Test("A frame that waits for the daemon's memory does not lose its place for that")
    func waitsForMemory() throws {
        let gate = Gate()
        let engine = FakeEngine { request, _ throws(KeychainError) in
            if case .add = request { gate.wait() }
            return .done
        }
        var limits = Limits()
        (limits.transferBytes, limits.bytesForSmallTransfers) = (1 << 20, 0)
        (limits.memoryTime, limits.frameTime) = (.seconds(600), .seconds(600))
        try withServer(engine, limits: limits) { server throws in
            let busy = try server.connect()
            let id = try busy.begin(.add(secret: SecretBytes(count: 1 << 20 - 1_000) { _ in }))
            gate.awaitArrival()
            let waiting = try server.connect()
            try waiting.send(bytes: Self.frame(10, 20_000))
            func isIdle() -> [Bool] {
                server.server.connections.activities.map { $0.isIdle(at: Activity.now + 100 * 1_000_000_000) }
            }
            #expect(comesTrue { isIdle() == [false, false] })
            gate.open()
            _ = try busy.answer(to: id)
            // There is memory now, and the client owes the rest.
            #expect(comesTrue { isIdle() == [true, true] })
        }
    }

    @Test("A store that grows between the two looks of a request is asked once more, and not for ever")
    func growing() throws {
        let looks = Observed(0)
        let engine = FakeEngine(need: { request, most in
            guard case .find = request else { return 0 }
            looks.update { $0 += 1 }
            return most + 1
        })
        try withServer(engine) { server throws in
            let client = try server.connect()
            let error = #expect(throws: KeychainError.self) { try client.ask(.find) }
            #expect(error?.code == .dataTooLarge)
            #expect(looks.value == 3)
            #expect(try server.serves())
        }
    }

    @Test("A second hello of millions of groups ends the connection before it is decoded")
    func groups() throws {
        try withServer(FakeEngine()) { server throws in
            let client = try server.connect()
            let groups = Array(repeating: [0x12, 0x00] as [UInt8], count: 1 << 20).flatMap { $0 }
            let message = [0x12, 0x80, 0x80, 0x80, 0x01] + groups
            try client.send(bytes: Self.frame(UInt32(message.count), 0, message))
            let goodbye = try client.goodbye()
            #expect(goodbye.reason == .malformed && goodbye.message.contains("groups"), "\(goodbye)")
        }
    }

    @Test("Descriptors that a message brings never arrive")
    func descriptors() throws {
        try withServer(FakeEngine(), limits: impatient) { server throws in
            let client = try server.connect()
            let bytes = try TestClient.bytes(of: .request(id: 1, .status))
            // One that nothing else in this process has open, or is closing at this moment.
            let pipe = Pipe()
            let sent = pipe.fileHandleForReading.fileDescriptor
            let failure = ckeychain_test_send_descriptors(client.descriptor, bytes, bytes.count, sent, 50)
            // Since Linux 6.16 they are not even sent.
            if failure == 0 { #expect(try client.goodbye().reason == .malformed) } else { #expect(failure == EPERM) }
            #expect(try server.serves())
            #expect(try descriptorCount(ofPipe: sent) == 2, "both ends of the pipe, and no copy")
        }
    }

    // MARK: Numbers

    @Test("More connections of one process than it may have are refused, until one is closed")
    func perProcess() throws {
        var limits = Limits()
        limits.connectionsPerProcess = 3
        try withServer(FakeEngine(), limits: limits) { server throws in
            var clients = try (0..<3).map { _ in try server.connect() }
            let refused = try TestClient(server.path)
            let goodbye = try refused.goodbye()
            #expect(goodbye.reason == .tooManyConnections)
            #expect(goodbye.message.contains("3 connections"))
            clients.removeLast()
            // The server learns of the end a moment later.
            #expect(comesTrue { (try? server.connect()) != nil })
            #expect(clients.count == 2)
        }
    }

    @Test("A refusal says how the lock is, for a client that would lock", arguments: [true, false])
    func refusedLock(hasPasscode: Bool) throws {
        var limits = Limits()
        limits.connections = 1
        let status = LockStatus.unlocked(epoch: 1, hasPasscode: hasPasscode)
        try withServer(FakeEngine(lockStatus: status), limits: limits) { server throws in
            let client = try server.connect()
            let goodbye = try TestClient(server.path).goodbye()
            #expect(goodbye.reason == .tooManyConnections)
            #expect(!goodbye.isLocked && goodbye.hasNoPasscode == !hasPasscode)
            try client.ask(.rekeyStep)
        }
    }

    @Test("More connections in all than there may be are refused")
    func inAll() throws {
        var limits = Limits()
        limits.connections = 2
        try withServer(FakeEngine(), limits: limits) { server throws in
            let clients = try (0..<2).map { _ in try server.connect() }
            #expect(try TestClient(server.path).goodbye().reason == .tooManyConnections)
            for client in clients { try client.ask(.rekeyStep) }
        }
    }

    /// A connection that has just begun, however long the test takes.
    private static var justBegun: Activity { Activity(frameBegan: Activity.now + 600 * 1_000_000_000) }

    @Test("When all places are taken, the process that has most gives its newest one back to one that has fewer")
    func fairPlaces() throws {
        var limits = Limits()
        limits.connections = 4
        let table = ConnectionTable(limits)
        let pairs = try (0..<8).map { _ in try SocketPair() }
        func isEnding(_ number: Int) -> Bool {
            table.reasonForEnd(of: pairs[number].served)?.reason == .tooManyConnections
        }
        for number in 0..<3 { #expect(table.add(pairs[number].served, of: program(1), Self.justBegun) == nil) }
        #expect(table.add(pairs[3].served, of: program(2), Self.justBegun) == nil)
        #expect(table.add(pairs[4].served, of: program(3), Self.justBegun) == nil)
        #expect((0..<5).map(isEnding) == [false, false, true, false, false])
        #expect(try pairs[2].hasEnded)
        // Nobody has more than these would have.
        #expect(table.add(pairs[5].served, of: program(1), Self.justBegun)?.reason == .tooManyConnections)
        #expect(table.add(pairs[5].served, of: program(3), Self.justBegun)?.reason == .tooManyConnections)
        #expect(table.add(pairs[5].served, of: program(2), Self.justBegun)?.reason == .tooManyConnections)
        // One that ends later than it gave its place back does so once.
        table.remove(pairs[2].served, of: program(1))
        #expect(table.add(pairs[6].served, of: program(4), Self.justBegun) == nil)
        #expect((0..<7).filter(isEnding) == [1])
        table.remove(pairs[3].served, of: program(2))
        #expect(table.add(pairs[7].served, of: program(5), Self.justBegun) == nil)
        #expect(table.count == 5)
    }

    @Test("When nobody can give a place back, processes without a connection have a few further ones")
    func furtherPlaces() throws {
        var limits = Limits()
        limits.connections = 4
        let table = ConnectionTable(limits)
        let pairs = try (0...37).map { _ in try SocketPair() }
        for number in 0..<4 {
            #expect(table.add(pairs[number].served, of: program(Int32(number + 1)), Self.justBegun) == nil)
        }
        #expect(table.add(pairs[37].served, of: program(1), Self.justBegun)?.reason == .tooManyConnections)
        for number in 4..<36 {
            #expect(table.add(pairs[number].served, of: program(Int32(number + 1)), Self.justBegun) == nil)
        }
        #expect(table.add(pairs[37].served, of: program(5), Self.justBegun)?.reason == .tooManyConnections)
        #expect(table.add(pairs[37].served, of: program(100), Self.justBegun)?.reason == .tooManyConnections)
        table.remove(pairs[35].served, of: program(36))
        #expect(table.add(pairs[37].served, of: program(100), Self.justBegun) == nil)
    }

    @Test("When every place is taken, a connection that does nothing gives its own to one that has fewer")
    func idlePlaces() throws {
        var limits = Limits()
        (limits.connections, limits.furtherConnections) = (4, 0)
        let table = ConnectionTable(limits)
        let pairs = try (0..<8).map { _ in try SocketPair() }
        let activities = (0..<8).map { _ in Self.justBegun }
        func add(_ number: Int) -> Bool {
            table.add(pairs[number].served, of: program(Int32(number + 1)), activities[number]) == nil
        }
        for number in 0..<4 { #expect(add(number)) }
        #expect(!add(4), "all have just begun")
        activities[0].work()
        activities[1].wait()
        activities[2].wait()
        #expect(add(4))
        #expect(try pairs[1].hasEnded && !pairs[0].hasEnded && !pairs[2].hasEnded)
        #expect(table.reasonForEnd(of: pairs[1].served)?.reason == .tooManyConnections)
        // As many as it would have itself are not taken from anybody.
        #expect(table.add(pairs[5].served, of: program(1), Self.justBegun)?.reason == .tooManyConnections)
        #expect(add(6) && !add(7))
        #expect(try pairs[2].hasEnded)
    }

    @Test("A frame that is not whole within a second may lose its place, and one that is worked on may not")
    func halfFrames() throws {
        let second: UInt64 = 1_000_000_000
        let activity = Activity(frameBegan: 10 * second)
        #expect(!activity.isIdle(at: 11 * second) && activity.isIdle(at: 11 * second + 1))
        activity.work()
        #expect(!activity.isIdle(at: .max))
        activity.wait()
        #expect(activity.isIdle(at: 0))
        activity.beginFrame()
        #expect(!activity.isIdle(at: Activity.now))
    }

    @Test("Of a process that has most an idle connection ends before a newer one that works")
    func idleFirst() throws {
        var limits = Limits()
        limits.connections = 3
        let table = ConnectionTable(limits)
        let pairs = try (0..<4).map { _ in try SocketPair() }
        let activities = (0..<4).map { _ in Activity() }
        for number in 0..<3 { #expect(table.add(pairs[number].served, of: program(1), activities[number]) == nil) }
        activities[0].work()
        activities[1].wait()
        activities[2].work()
        #expect(table.add(pairs[3].served, of: program(2), activities[3]) == nil)
        #expect(try pairs[1].hasEnded && !pairs[0].hasEnded && !pairs[2].hasEnded)
    }

    @Test("A connection that waits, one in the midst of a frame and one that is told of changes are told apart")
    func served() throws {
        let engine = FakeEngine()
        try withServer(engine) { server throws in
            let activities = { server.server.connections.activities }
            let waiting = try server.connect()
            try waiting.ask(.rekeyStep)
            let half = try server.connect()
            try half.send(bytes: Self.frame(100, 0, [1]))
            let subscribed = try server.connect()
            try subscribed.subscribe()
            _ = try subscribed.nextChange()
            let later = Activity.now + 100 * 1_000_000_000
            // The threads tell of it a moment later: the half frame counts as a wait until its first byte is read.
            #expect(
                comesTrue {
                    let activities = activities()
                    return activities.map { $0.isIdle(at: later) } == [true, true, false]
                        && activities.map { $0.isIdle(at: 0) } == [true, false, false]
                })
        }
    }

    @Test("Two hundred clients at once are all served")
    func many() throws {
        var limits = Limits()
        limits.connectionsPerProcess = 300
        try withServer(FakeEngine(), limits: limits) { server throws in
            let clients = try (0..<200).map { _ in try server.connect() }
            for _ in 0..<5 {
                let ids = try clients.map { try $0.begin(.find) }
                for (client, id) in zip(clients, ids) { _ = try client.answer(to: id) }
            }
        }
    }
}
