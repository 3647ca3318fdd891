import Foundation
import Glibc
import KeychainModel
import KeychainTestSupport
import KeychainWire
import Synchronization
import Testing

@testable import KeychainClient

/// No call waits for ever on a daemon that does not answer. Wherever it falls silent, the call ends, and is not begun again.
@Suite(.timeLimit(.minutes(5))) struct SilentDaemonTests {
    private let caller = Caller(groups: ["G"])
    private let find = Request.find(FindRequest(ItemQuery(.genericPassword), wantsSecrets: true))

    /// Of hundredths of a second.
    private var short: Patience {
        var patience = Patience()
        patience.part = .milliseconds(5)
        patience.parts = 4
        patience.partsWithoutSigns = 4
        patience.remembered = .zero
        return patience
    }

    private static let item = Item(
        itemClass: .genericPassword, identifier: UUID(), attributes: [:], accessGroup: "G", synchronizable: false,
        accessControl: AccessControl(.whenUnlocked), created: 0, modified: 0, secret: .of("secret"))

    /// Runs `body` with a way to a program that does `serve` with each connection, which stays open until the end.
    private func withDaemon<R>(
        _ patience: Patience, _ serve: @escaping @Sendable (FakeDaemon.Peer) throws -> Void,
        _ body: (SocketCarrier, _ connections: () -> Int) throws -> R
    ) throws -> R {
        try withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("s").path
            let count = Atomic(0)
            let isOver = DispatchSemaphore(value: 0)
            let daemon = try FakeDaemon(at: path) { peer, _ in
                count.add(1, ordering: .relaxed)
                try serve(peer)
                isOver.wait()
                isOver.signal()
            }
            defer {
                isOver.signal()
                daemon.stop()
            }
            return try body(SocketCarrier(DaemonAddress(path: path, owners: [geteuid()]), patience)) {
                count.load(ordering: .relaxed)
            }
        }
    }

    private func failure(of request: Request, _ carrier: SocketCarrier) -> KeychainError? {
        do throws(KeychainError) {
            _ = try carrier.handle(request, from: caller)
            return nil
        } catch {
            return error
        }
    }

    enum Place: CaseIterable {
        case hello, request, header, message, tail, betweenParts

        func serve(_ peer: FakeDaemon.Peer) throws {
            guard self != .hello, try peer.welcome(givesSigns: true), case .request(let id, _) = try peer.receive(),
                self != .request
            else { return }
            let part = DaemonMessage.reply(id: id, .found([SilentDaemonTests.item]), isLast: self != .betweenParts)
            let frame = part.frame()
            if self == .betweenParts { return peer.send(frame) }
            var bytes = Data(count: WireHeader.byteCount)
            bytes.withUnsafeMutableBytes { frame.header.write(to: $0) }
            bytes += frame.message
            bytes += Data("sec".utf8)
            switch self {
            case .header: peer.send(bytes.prefix(WireHeader.byteCount - 1))
            case .message: peer.send(bytes.prefix(WireHeader.byteCount + 5))
            default: peer.send(bytes)
            }
        }
    }

    @Test("A call to a daemon that falls silent ends, and is not begun again", arguments: Place.allCases)
    func silence(place: Place) throws {
        try withDaemon(short, { try place.serve($0) }) { carrier, connections in
            // The part is one of an answer to a search.
            let requests = place == .betweenParts ? [find] : [find, .status, .lock(.now), .lockStatus]
            for request in requests {
                let error = failure(of: request, carrier)
                #expect(error?.code == .notAvailable)
                #expect(error?.signal == .silent)
                #expect(error?.message.contains("does not answer") == true, "\(String(describing: error))")
            }
            #expect(connections() <= requests.count)
        }
    }

    @Test("After a silent call the next ones end at once, and a lock is tried all the same")
    func once() throws {
        var patience = short
        patience.remembered = .seconds(3_600)
        let told = patience
        try withDaemon(told, { _ = try $0.welcome(givesSigns: true) }) { carrier, connections in
            for _ in 0..<100 { #expect(failure(of: find, carrier)?.signal == .silent) }
            #expect(failure(of: .lock(.now), carrier)?.signal == .silent)
            // The daemon may come to them when the calls have ended already.
            while connections() < 2 { usleep(1_000) }
            #expect(connections() == 2)
        }
    }

    @Test("A lock that comes through ends the silence for the other calls too")
    func lockEndsSilence() throws {
        try withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("s").path
            let isOver = DispatchSemaphore(value: 0)
            let daemon = try FakeDaemon(at: path) { peer, number in
                guard try peer.welcome(givesSigns: true) else { return }
                if number == 0 { return isOver.wait() }
                while case .request(let id, let request) = try peer.receive() {
                    let reply: Reply = if case .lock = request { .done } else { .found([SilentDaemonTests.item]) }
                    peer.send(DaemonMessage.reply(id: id, reply, isLast: true))
                }
            }
            defer {
                isOver.signal()
                daemon.stop()
            }
            let address = DaemonAddress(path: path, owners: [geteuid()])
            var patience = short
            patience.remembered = .seconds(3_600)
            // The silence is known to all of the process. Only the call that finds it may be short.
            let (hasty, patient) = (SocketCarrier(address, patience), SocketCarrier(address, Patience()))
            #expect(failure(of: find, hasty)?.signal == .silent)
            #expect(failure(of: find, patient)?.signal == .silent)
            #expect(failure(of: .lock(.now), patient) == nil)
            #expect(failure(of: find, patient) == nil)
        }
    }

    @Test("A change to a daemon that falls silent ends, and its outcome is called unknown")
    func change() throws {
        try withDaemon(short, { _ = try $0.welcome(givesSigns: true) }) { carrier, connections in
            let error = failure(of: .delete(ItemQuery(.genericPassword)), carrier)
            #expect(error?.code == .notAvailable)
            #expect(error?.message.contains("does not answer") == true)
            #expect(error?.message.contains("is not known") == true)
            #expect(connections() <= 1)
        }
    }

    @Test("A call ends that a daemon does not take from the socket")
    func sending() throws {
        var request = AddRequest(.genericPassword)
        request.secret = SecretBytes(count: 8 << 20) { _ in }
        try withDaemon(short, { _ = try $0.welcome(givesSigns: true) }) { carrier, connections in
            let error = failure(of: .add(request), carrier)
            #expect(error?.signal == .silent)
            #expect(connections() <= 1)
        }
    }

    @Test("A call ends for which there is no place in the queue of a daemon that accepts nothing")
    func queue() throws {
        try withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("s").path
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
            let size = socklen_t(MemoryLayout<sockaddr_un>.size)
            func call(_ function: (UnsafePointer<sockaddr>) -> Int32) -> Int32 {
                withUnsafePointer(to: &address) { $0.withMemoryRebound(to: sockaddr.self, capacity: 1, function) }
            }
            let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            try #require(call { bind(listener, $0, size) } == 0 && listen(listener, 0) == 0)
            var waiting = [listener]
            defer { for descriptor in waiting { close(descriptor) } }
            var isFull = false
            while !isFull {
                let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
                waiting.append(descriptor)
                isFull = call { connect(descriptor, $0, size) } != 0
            }
            let carrier = SocketCarrier(DaemonAddress(path: path, owners: [geteuid()]), short)
            let error = failure(of: .status, carrier)
            #expect(error?.signal == .silent, "\(String(describing: error))")
        }
    }

    @Test("Threads that wait for a connection of the process end with those that the daemon keeps waiting")
    func threads() throws {
        let gate = DispatchSemaphore(value: 0)
        let told = Atomic(0)
        var patience = short
        patience.parts = 1
        // Each call comes to here when the time is over, and ends when the gate opens.
        patience.notice = { _ in
            told.add(1, ordering: .relaxed)
            gate.wait()
            gate.signal()
        }
        try withDaemon(patience, { _ = try $0.receive() }) { carrier, connections in
            let errors = Mutex<[KeychainError?]>([])
            let all = DispatchGroup()
            for _ in 0..<40 {
                all.enter()
                Thread {
                    let error = failure(of: .status, carrier)
                    errors.withLock { $0.append(error) }
                    all.leave()
                }.start()
            }
            while carrier.waitingCount < 24 || told.load(ordering: .relaxed) < 16 { usleep(1_000) }
            gate.signal()
            all.wait()
            #expect(errors.withLock { $0.filter { $0?.signal == .silent }.count } == 40)
            #expect(connections() <= 16)
            #expect(carrier.waitingCount == 0)
        }
    }

    @Test("A person is told once what a call waits for, and a library says nothing by itself")
    func notice() throws {
        let said = Mutex<[String]>([])
        var patience = short
        patience.notice = { text in said.withLock { $0.append(text) } }
        let told = patience
        try withDaemon(told, { _ = try $0.receive() }) { carrier, _ in _ = failure(of: .status, carrier) }
        #expect(said.withLock { $0.count } == 1)
        #expect(said.withLock { $0.first }?.contains("silent") == true)
    }

    @Test("The limits are thirty seconds, three hundred with a daemon that gives no signs, and a word after three")
    func limits() throws {
        let patience = Patience()
        #expect(patience.part == .seconds(3))
        #expect(patience.time(of: patience.parts) == .seconds(30))
        #expect(patience.time(of: patience.partsWithoutSigns) == .seconds(300))
    }

    // MARK: Signs of life

    @Test("Signs of life are passed over, and the answer that follows is the answer")
    func signs() throws {
        let serve: @Sendable (FakeDaemon.Peer) throws -> Void = { peer in
            guard case .hello(let hello) = try peer.receive(), hello.hearsSigns else { return }
            peer.send(.welcome(DaemonWelcome(instance: UUID(), processID: 1, release: "fake", givesSigns: true)))
            while case .request(let id, _) = try peer.receive() {
                for _ in 0..<20 { peer.send(.working(id: id)) }
                peer.send(.reply(id: id, .found([Self.item]), isLast: true))
            }
        }
        try withDaemon(Patience(), serve) { carrier, connections in
            for _ in 0..<3 {
                guard case .found(let items) = try carrier.handle(find, from: caller), items.count == 1 else {
                    throw CocoaError(.coderInvalidValue)
                }
            }
            #expect(connections() == 1)
        }
    }

    @Test("A daemon that is at work without an end is not waited for without one")
    func endless() throws {
        let said = Mutex<[String]>([])
        var patience = Patience()
        patience.mostSigns = 20
        patience.notice = { text in said.withLock { $0.append(text) } }
        let told = patience
        let serve: @Sendable (FakeDaemon.Peer) throws -> Void = { peer in
            guard try peer.welcome(givesSigns: true), case .request(let id, _) = try peer.receive() else { return }
            for _ in 0..<20 { peer.send(.working(id: id)) }
        }
        try withDaemon(told, serve) { carrier, connections in
            let error = failure(of: find, carrier)
            #expect(error?.code == .notAvailable)
            #expect(error?.message.contains("does not finish") == true, "\(String(describing: error))")
            #expect(connections() == 1)
        }
        #expect(said.withLock { $0.filter { $0.contains("still at work") }.count } == 1)
    }

    @Test(
        "The command ends with 53 where nothing is finished, and a lock says that it may be unlocked still",
        arguments: [["status"], ["lock"], ["lock", "--now"], ["get", "mail"], ["find"]])
    func command(words: [String]) throws {
        let serve: @Sendable (FakeDaemon.Peer) throws -> Void = { peer in
            guard try peer.welcome(givesSigns: true) else { return }
            while case .request(let id, _) = try peer.receive() {
                for _ in 0..<Patience().mostSigns { peer.send(.working(id: id)) }
            }
        }
        try withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("s").path
            let daemon = try FakeDaemon(at: path) { peer, _ in try serve(peer) }
            defer { daemon.stop() }
            let (process, errors) = (Process(), Pipe())
            process.executableURL = BuiltProducts.url(of: "keychainctl")
            process.arguments = words
            process.environment = ["HOME": directory.path, "KEYCHAIN_HOST": "unix:\(path)", "PATH": "/usr/bin:/bin"]
            process.standardError = errors
            try process.run()
            let said = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationReason == .exit && process.terminationStatus == 53, "\(said)")
            #expect(said.contains("still at work") && said.contains("does not finish"), "\(said)")
            #expect(said.contains("may be unlocked still") == (words[0] == "lock"), "\(said)")
        }
    }

    @Test("A sign of life for another request is no answer to this one")
    func foreignSign() throws {
        let serve: @Sendable (FakeDaemon.Peer) throws -> Void = { peer in
            guard try peer.welcome(givesSigns: true), case .request(let id, _) = try peer.receive() else { return }
            peer.send(.working(id: id + 1))
        }
        try withDaemon(Patience(), serve) { carrier, _ in
            let error = failure(of: .delete(ItemQuery(.genericPassword)), carrier)
            #expect(error?.message.contains("something else than was asked") == true, "\(String(describing: error))")
        }
    }

    @Test(
        "A daemon of before, which gives no signs of life, is waited for as long as before", arguments: [true, false])
    func oldDaemon(givesSigns: Bool) throws {
        var patience = Patience()
        patience.part = .milliseconds(5)
        // The one that is not meant here lasts for seconds.
        patience.parts = givesSigns ? 4 : 4_000
        patience.partsWithoutSigns = givesSigns ? 4_000 : 4
        try withDaemon(patience, { _ = try $0.welcome(givesSigns: givesSigns) }) { carrier, _ in
            let error = failure(of: .status, carrier)
            #expect(error?.signal == .silent)
            #expect(error?.message.contains("silent for 0 seconds") == true, "\(String(describing: error))")
        }
    }

    // MARK: A person, and changes

    @Test("While a person is at the reader signs of life are not counted, and silence ends the wait")
    func reader() throws {
        var patience = short
        patience.mostSigns = 2
        let serve: @Sendable (FakeDaemon.Peer) throws -> Void = { peer in
            guard try peer.welcome(givesSigns: true), case .verifyBiometry(let id) = try peer.receive() else { return }
            for _ in 0..<5 { peer.send(.working(id: id)) }
            peer.send(.biometryHint(id: id, BiometryHint("touch it")))
        }
        try withDaemon(patience, serve) { carrier, _ in
            let error = #expect(throws: BiometryFailure.self) {
                _ = try carrier.verifyBiometry(for: caller, Cancellation()) { _ in }
            }
            guard case .failed(let message)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(message.contains("does not answer"))
        }
    }

    @Test("A subscription may be quiet for as long as it likes, and ends where the daemon does not begin it")
    func subscription() throws {
        try withDaemon(short, { _ = try $0.receive() }) { carrier, _ in
            for _ in 0..<2 {
                let error = #expect(throws: KeychainError.self) {
                    _ = try carrier.waitForLockChange(since: 1, timeout: .seconds(3_600))
                }
                #expect(error?.signal == .silent)
                #expect(throws: KeychainError.self) { _ = try carrier.listenForLocks() }
                #expect(throws: KeychainError.self) { _ = try carrier.listenForChanges(as: caller) }
            }
        }
        guard case .lockStatus(let status) = try FakeEngine().handle(.lockStatus, from: caller) else { return }
        let serve: @Sendable (FakeDaemon.Peer) throws -> Void = { peer in
            guard try peer.welcome(givesSigns: true), case .subscribe(let id, _) = try peer.receive() else { return }
            peer.send(.event(id: id, .lock(status)))
        }
        try withDaemon(Patience(), serve) { carrier, _ in
            let listener = try carrier.listenForChanges(as: caller)
            #expect(try !listener.waitForChange(timeout: .milliseconds(5)))
        }
    }

    // MARK: A real one

    @Test(
        "A real daemon that is stopped ends each call with errSecNotAvailable, and serves the next one when it goes on")
    func stopped() throws {
        try withTemporaryDirectory { directory in
            let daemon = DaemonProcess(in: directory)
            try daemon.start()
            defer { daemon.kill() }
            kill(daemon.identifier, SIGSTOP)
            var information = siginfo_t()
            try #require(waitid(P_PID, id_t(daemon.identifier), &information, Int32(WSTOPPED | WNOWAIT)) == 0)
            let address = DaemonAddress(path: daemon.socket, owners: [geteuid()])
            for request in [.status, .lock(.now), find] {
                let error = failure(of: request, SocketCarrier(address, short))
                #expect(error?.code.status == -25291)
                #expect(error?.signal == .silent)
            }
            kill(daemon.identifier, SIGCONT)
            guard case .lockStatus = try daemon.carrier.handle(.lockStatus, from: caller) else {
                throw CocoaError(.coderInvalidValue)
            }
        }
    }
}
