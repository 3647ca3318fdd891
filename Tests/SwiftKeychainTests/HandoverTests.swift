import Foundation
import Glibc
import KeychainEngine
import KeychainModel
import KeychainSystem
import KeychainTestSupport
import KeychainWire
import Synchronization
import Testing

@testable import KeychainClient
@testable import SwiftKeychain

/// A program that has the keychain open while it changes hands.
@Suite struct HandoverTests {
    private func configuration(_ directory: URL) -> KeychainConfiguration {
        var configuration = KeychainConfiguration()
        configuration.storeDirectory = directory.appendingPathComponent("store")
        configuration.deviceKeyDirectory = directory.appendingPathComponent("device")
        configuration.accessGroups = ["G"]
        return configuration
    }

    @Test("It goes on at the new host by itself, with the very call that was refused")
    func goesOver() throws {
        try withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("s").path
            let daemon = try FakeDaemon(at: path) { peer, _ in
                guard try peer.welcome() else { return }
                while case .request(let id, _) = try peer.receive() {
                    peer.send(.reply(id: id, .deleted(1), isLast: true))
                }
            }
            defer { daemon.stop() }
            let configuration = configuration(directory)
            let location = try StoreLocation(configuration)
            let isHandedOver = Mutex(false)
            let connection = Connection(configuration) { () throws(KeychainError) in
                isHandedOver.withLock { $0 }
                    ? .daemon(DaemonAddress(path: path, owners: [geteuid()])) : .embedded(location)
            }
            #expect(throws: KeychainError.self) { try connection.perform(.delete(ItemQuery(.genericPassword))) }
            try location.handOver(to: .user)
            isHandedOver.withLock { $0 = true }
            guard case .deleted = try connection.perform(.delete(ItemQuery(.genericPassword))) else {
                Issue.record("another reply")
                return
            }
            #expect(try connection.daemon()?.release == "fake")
        }
    }

    @Test("A question that found no store yet does not bind it to this process")
    func afterAQuestion() throws {
        try withTemporaryDirectory { directory in
            let configuration = configuration(directory)
            let location = try StoreLocation(configuration)
            let isHandedOver = Mutex(false)
            let path = directory.appendingPathComponent("s").path
            let daemon = try FakeDaemon(at: path) { peer, _ in
                guard try peer.welcome() else { return }
                while case .request(let id, _) = try peer.receive() {
                    peer.send(.reply(id: id, .deleted(1), isLast: true))
                }
            }
            defer { daemon.stop() }
            let connection = Connection(configuration) { () throws(KeychainError) in
                isHandedOver.withLock { $0 }
                    ? .daemon(DaemonAddress(path: path, owners: [geteuid()])) : .embedded(location)
            }
            #expect(try connection.placeOfMissingStore() != nil)
            try location.handOver(to: .user)
            isHandedOver.withLock { $0 = true }
            #expect(try connection.ask(.delete(ItemQuery(.genericPassword))) == 1)
        }
    }

    @Test("A program that follows changes is told of those at the new host", .timeLimit(.minutes(5)))
    func changes() async throws {
        let directory = try makeTemporaryDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        let configuration = configuration(directory)
        let location = try StoreLocation(configuration)
        let isHandedOver = Mutex(false)
        let connection = Connection(configuration) { () throws(KeychainError) in
            isHandedOver.withLock { $0 }
                ? .daemon(DaemonAddress(path: directory.appendingPathComponent("socket").path, owners: [geteuid()]))
                : .embedded(location)
        }
        let keychain = Keychain(service: "service").connected(connection)
        try await keychain.set("x", for: "there")
        var changes = keychain.changes.makeAsyncIterator()
        try location.handOver(to: .user)
        var owned = EngineConfiguration.test(in: directory, clock: SystemClock())
        owned.host = .user
        let engine = try Engine(owned)
        defer { engine.withdrawKeys() }
        let daemon = try InProcessDaemon(engine, in: directory)
        defer { daemon.stop() }
        isHandedOver.withLock { $0 = true }
        let other = Connection(engine: daemon.carrier, caller: Caller(groups: ["G"]))
        try await Keychain(service: "service").connected(other).set("x", for: "new")
        #expect(try await changes.next() == .init(kind: .added, key: "new"))
    }

    @Test("A connection is made only if its host is still the chosen one")
    func staysAway() throws {
        let directory = try makeTemporaryDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        var owned = EngineConfiguration.test(in: directory, clock: SystemClock())
        owned.host = .user
        let engine = try Engine(owned)
        defer { engine.withdrawKeys() }
        let socket = directory.appendingPathComponent("socket")
        let isMoving = Mutex(false)
        let connection = Connection(configuration(directory)) { () throws(KeychainError) in
            if isMoving.withLock({ $0 }) { throw .isMoved(directory) }
            return .daemon(DaemonAddress(path: socket.path, owners: [geteuid()]))
        }
        var request = AddRequest(.genericPassword)
        request.attributes = [.account: .text("a")]
        let first = try InProcessDaemon(engine, in: directory)
        _ = try connection.ask(.add(request))
        first.stop()
        try? FileManager.default.removeItem(at: socket)
        let second = try InProcessDaemon(engine, in: directory)
        defer { second.stop() }
        isMoving.withLock { $0 = true }
        request.attributes = [.account: .text("b")]
        let error = #expect(throws: KeychainError.self) { try connection.ask(.add(request)) }
        #expect(error?.message.contains("being moved") == true, "\(error?.message ?? "")")
        isMoving.withLock { $0 = false }
        #expect(try connection.ask(.status).itemCounts[.genericPassword] == 1)
    }

    @Test("One whose code says where the keychain is gets an error, and nothing is done behind its back")
    func staysPut() throws {
        try withTemporaryDirectory { directory in
            let configuration = configuration(directory)
            let connection = Connection(configuration)
            var request = AddRequest(.genericPassword)
            request.attributes = [.account: .text("a")]
            _ = try connection.perform(.add(request))
            let location = try StoreLocation(configuration)
            try location.handOver(to: .user)
            let error = #expect(throws: KeychainError.self) {
                try connection.perform(.find(.init(.init(.genericPassword), wantsSecrets: true)))
            }
            #expect(error?.code == .notAvailable)
            #expect(error?.message.contains("keychaind") == true)
            try location.handOver(to: .embedded)
            guard
                case .found(let items) = try connection.perform(
                    .find(.init(.init(.genericPassword), wantsSecrets: true)))
            else {
                Issue.record("another reply")
                return
            }
            #expect(items.count == 1)
        }
    }
}
