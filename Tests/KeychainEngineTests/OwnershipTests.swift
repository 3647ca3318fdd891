import Foundation
import KeychainCrypto
import KeychainModel
import KeychainSalvage
import KeychainSystem
import KeychainTestSupport
import Testing

@testable import KeychainEngine

/// Whose a store is, and how it goes from one host to another.
@Suite struct OwnershipTests {
    private func configuration(_ directory: URL, _ host: StoreHost) -> EngineConfiguration {
        var configuration = EngineConfiguration.test(in: directory)
        configuration.host = host
        return configuration
    }

    private func handover(_ directory: URL) -> StoreHandover { StoreHandover(configuration(directory, .embedded)) }

    private func expectRefusal(_ text: String, otherHost: Bool, _ body: () throws -> Void) {
        let error = #expect(throws: KeychainError.self) { try body() }
        #expect(error?.code == .notAvailable)
        #expect((error?.signal == .otherHost) == otherHost)
        #expect(error?.message.contains(text) == true, "\(error?.message ?? "")")
    }

    @Test("A store goes to the daemon and back with its items, and neither host opens the other's")
    func thereAndBack() throws {
        try withTemporaryDirectory { directory in
            try Engine(configuration(directory, .embedded)).add(.password("a"))
            expectRefusal("keychainctl migrate --to user", otherHost: false) {
                _ = try Engine(configuration(directory, .user))
            }
            try handover(directory).handOver(to: .user)
            expectRefusal("keychaind", otherHost: true) { _ = try Engine(configuration(directory, .embedded)) }
            let daemon = try Engine(configuration(directory, .user))
            #expect(try daemon.secret(of: "a") == "secret")
            try daemon.add(.password("b"))
            guard case .done = try daemon.handle(.giveUpStore, from: .owner) else {
                Issue.record("another reply")
                return
            }
            expectRefusal("given back", otherHost: true) { _ = try daemon.secret(of: "a") }
            expectRefusal("given back", otherHost: true) { try daemon.setPasscode("1234") }
            let embedded = try Engine(configuration(directory, .embedded))
            #expect(try embedded.secret(of: "b") == "secret")
            expectRefusal("keychainctl migrate", otherHost: false) { _ = try Engine(configuration(directory, .user)) }
        }
    }

    @Test("Two daemons never have one store, and the next one may have it when the first is gone")
    func oneDaemon() throws {
        try withTemporaryDirectory { directory in
            do {
                let first = try Engine(configuration(directory, .user))
                expectRefusal("open already", otherHost: false) { _ = try Engine(configuration(directory, .user)) }
                // Nor is it taken away from under a daemon that has it.
                expectRefusal("open already", otherHost: false) { try handover(directory).handOver(to: .embedded) }
                #expect(try first.lockStatus().state == .unlocked)
            }
            try Engine(configuration(directory, .user)).add(.password("a"))
            try handover(directory).handOver(to: .embedded)
            #expect(try Engine(configuration(directory, .embedded)).secret(of: "a") == "secret")
        }
    }

    @Test("A store of the system's daemon is opened by no program and by no user's daemon, and neither way round")
    func systemsStore() throws {
        try withTemporaryDirectory { directory in
            try Engine(configuration(directory, .system)).add(.password("a"))
            for host in [StoreHost.embedded, .user] {
                expectRefusal("the system's keychaind", otherHost: true) {
                    _ = try Engine(configuration(directory, host))
                }
            }
            #expect(try Engine(configuration(directory, .system)).secret(of: "a") == "secret")
        }
        try withTemporaryDirectory { directory in
            try Engine(configuration(directory, .user)).add(.password("a"))
            expectRefusal("this user's keychaind", otherHost: true) {
                _ = try Engine(configuration(directory, .system))
            }
            #expect(try Engine(configuration(directory, .user)).secret(of: "a") == "secret")
        }
    }

    @Test("While items are moved, and after a move that was cut short, no other program and no daemon opens the store")
    func moving() throws {
        try withTemporaryDirectory { directory in
            let program = try Engine(configuration(directory, .embedded))
            try program.add(.password("a"))
            try handover(directory).handOver(from: .embedded, to: .moving)
            expectRefusal("being moved", otherHost: true) { _ = try program.secret(of: "a") }
            for host in [StoreHost.embedded, .user, .system] {
                expectRefusal("being moved", otherHost: true) { _ = try Engine(configuration(directory, host)) }
            }
            expectRefusal("being moved", otherHost: true) { try handover(directory).handOver(to: .user) }
            expectRefusal("being moved", otherHost: true) { try handover(directory).handOver(to: .embedded) }
            let move = try Engine(configuration(directory, .moving))
            #expect(try move.secret(of: "a") == "secret")
            expectRefusal("open already", otherHost: false) { _ = try Engine(configuration(directory, .moving)) }
            expectRefusal("open already", otherHost: false) {
                try handover(directory).handOver(from: .moving, to: .embedded)
            }
            // It is begun anew only from the state in which it was found.
            expectRefusal("changed hands", otherHost: false) {
                try handover(directory).handOver(from: .embedded, to: .moving)
            }
            _ = try move.handle(.giveUpStore, from: .owner)
            try handover(directory).handOver(from: .moving, to: .embedded)
            expectRefusal("changed hands", otherHost: false) {
                try handover(directory).handOver(from: .moving, to: .user)
            }
            #expect(try Engine(configuration(directory, .embedded)).secret(of: "a") == "secret")
        }
    }

    @Test("A write that waited for its turn while the store went to another host is refused")
    func lateWrite() throws {
        try withTemporaryDirectory { directory in
            let program = try Engine(configuration(directory, .embedded))
            try program.add(.password("a"))
            let late = try program.items()
            try handover(directory).handOver(from: .embedded, to: .moving)
            expectRefusal("being moved", otherHost: true) { _ = try late.add(.password("b"), from: .owner) }
            let move = try Engine(configuration(directory, .moving))
            #expect(try move.items().counts(in: .all)[.genericPassword] == 1)
        }
    }

    @Test("A move does not end while another process reads, and the deleted items are still in the log")
    func log() throws {
        try withTemporaryDirectory { directory in
            let program = try Engine(configuration(directory, .embedded))
            try program.add(.password("a"))
            try handover(directory).handOver(from: .embedded, to: .moving)
            var closed = configuration(directory, .moving)
            closed.busyTimeout = 0
            let move = try Engine(closed)
            guard case .exported(let part) = try move.handle(.exportItems(ExportRequest(isMove: true)), from: .owner)
            else {
                Issue.record("another reply")
                return
            }
            let remove = Request.removeMoved(part.items.map { ItemVersion($0) })
            try program.store.read { reader in
                let hasFiles = try reader.hasFiles()
                #expect(!hasFiles)
                #expect(throws: KeychainError.self) { try move.handle(remove, from: .owner) }
            }
            _ = try move.handle(.removeMoved([]), from: .owner)
            let log = directory.appendingPathComponent("store/keychain.db-wal").path
            #expect(try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int == 0)
        }
    }

    @Test("A program that has the store open notices with its next call, and nothing unlocked is left to it")
    func programsNotice() throws {
        try withTemporaryDirectory { directory in
            let program = try Engine(configuration(directory, .embedded))
            try program.add(.password("a"))
            try program.setPasscode("1234")
            #expect(try program.secret(of: "a") == "secret")
            try handover(directory).handOver(to: .user)
            expectRefusal("keychaind", otherHost: true) { _ = try program.secret(of: "a") }
            expectRefusal("keychaind", otherHost: true) { try program.add(.password("b")) }
            let daemon = try Engine(configuration(directory, .user))
            #expect(try daemon.lockStatus().state == .neverUnlocked)
            _ = try daemon.handle(.unlock(.of("1234")), from: .owner)
            #expect(try daemon.secret(of: "a") == "secret")
            _ = try daemon.handle(.giveUpStore, from: .owner)
            // The same program goes on, and has to unlock again.
            #expect(try program.lockStatus().state == .neverUnlocked)
            _ = try program.handle(.unlock(.of("1234")), from: .owner)
            #expect(try program.secret(of: "a") == "secret")
            program.withdrawKeys()
        }
    }

    @Test("Nobody unlocks or changes the passcode of a store that is somebody else's by now", arguments: [true, false])
    func passcodeOfAnother(usesKeyring: Bool) throws {
        try withTemporaryDirectory { directory in
            var configuration = configuration(directory, .embedded)
            configuration.usesKeyring = usesKeyring
            let program = try Engine(configuration)
            try program.add(.password("a"))
            try program.setPasscode("1234")
            try handover(directory).handOver(to: .user)
            let keybag = directory.appendingPathComponent("store/keybag")
            let before = try Data(contentsOf: keybag)
            for request: Request in [
                .unlock(.of("1234")), .passcode(.remove(old: .of("1234"))),
                .passcode(.change(old: .of("1234"), new: .of("5"), rekey: false)),
            ] {
                expectRefusal("keychaind", otherHost: true) { _ = try program.handle(request, from: .owner) }
            }
            #expect(try Data(contentsOf: keybag) == before)
            #expect(program.keys.held.whenUnlocked(PasscodePolicy()) == nil)
            let bag = try KeybagFile(program.configuration).load(deviceKey: program.keys.deviceKey)
            for tier in KeyTier.behindPasscode {
                let name = program.keys.blobName(tier, bagGeneration: bag.generation)
                #expect(KernelKeyring.ofUser?.find(name) == nil)
            }
        }
    }

    @Test("A handover that was cut short after the mark is finished by the daemon itself")
    func cutShort() throws {
        try withTemporaryDirectory { directory in
            let program = try Engine(configuration(directory, .embedded))
            try program.add(.password("a"))
            // What the handover does first, and nothing of what it does then.
            try Data("user\n".utf8).write(to: directory.appendingPathComponent("store/host"))
            #expect(try program.secret(of: "a") == "secret")
            let daemon = try Engine(configuration(directory, .user))
            expectRefusal("keychaind", otherHost: true) { _ = try program.secret(of: "a") }
            #expect(try daemon.secret(of: "a") == "secret")
        }
    }

    @Test("A daemon's new store is its own from the first moment")
    func newStore() throws {
        try withTemporaryDirectory { directory in
            try handover(directory).handOver(to: .user)
            expectRefusal("keychaind", otherHost: true) { _ = try Engine(configuration(directory, .embedded)) }
            try Engine(configuration(directory, .user)).add(.password("a"))
        }
        try withTemporaryDirectory { directory in
            try Engine(configuration(directory, .user)).add(.password("a"))
            expectRefusal("keychaind", otherHost: true) { _ = try Engine(configuration(directory, .embedded)) }
        }
    }

    @Test("Only the owner gives a store away, and only a daemon has one to give", arguments: StoreHost.allCases)
    func giveUp(host: StoreHost) throws {
        try withTemporaryDirectory { directory in
            let engine = try Engine(configuration(directory, host))
            let other = #expect(throws: KeychainError.self) { try engine.handle(.giveUpStore, from: caller) }
            #expect(other?.code == .missingEntitlement)
            #expect(try engine.lockStatus().state == .unlocked)
            if host.isDaemon { return }
            let owner = #expect(throws: KeychainError.self) { try engine.handle(.giveUpStore, from: .owner) }
            #expect(owner?.code == .unimplemented)
        }
    }

    @Test("A mark that nobody knows is refused by every host, and left as it is")
    func unknownMark() throws {
        try withTemporaryDirectory { directory in
            try Engine(configuration(directory, .embedded)).add(.password("a"))
            let mark = directory.appendingPathComponent("store/host")
            for word in ["systems\n", "", "embedded\n", "user user\n", String(repeating: "x", count: 100)] {
                try Data(word.utf8).write(to: mark)
                for host in StoreHost.allCases {
                    expectRefusal("host", otherHost: false) { _ = try Engine(configuration(directory, host)) }
                }
                #expect(try Data(contentsOf: mark) == Data(word.utf8))
            }
        }
    }

    @Test("A repair leaves the store to the host it belongs to")
    func repair() throws {
        try withTemporaryDirectory { directory in
            try Engine(configuration(directory, .user)).add(.password("a"))
            _ = try StoreRepair(configuration(directory, .embedded)).run(
                passcode: { throw KeychainError(.internalFailure, message: "nobody set one") }, progress: { _, _ in })
            expectRefusal("keychaind", otherHost: true) { _ = try Engine(configuration(directory, .embedded)) }
            #expect(try Engine(configuration(directory, .user)).secret(of: "a") == "secret")
        }
    }
}
