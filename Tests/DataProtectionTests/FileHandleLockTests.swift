import Foundation
import Glibc
import KeychainClient
import KeychainCrypto
import KeychainEngine
import KeychainModel
import KeychainSystem
import KeychainTestSupport
import SwiftKeychain
import Synchronization
import Testing

@testable import DataProtection
@testable import DataProtectionCore

/// The table of classes and operations for files that are open while the lock comes and goes
/// (`ProtectedFileHandle`): in one program, and from the one that locks to another one; on both hosts.
@Suite struct FileHandleLockTests {
    /// What there is to do with a file that is open.
    enum Operation: CaseIterable {
        case read, write, append, truncate, punch, length, changeClass

        func perform(_ handle: ProtectedFileHandle) throws {
            switch self {
            case .read: _ = try handle.read(at: 0, count: 10)
            case .write: try handle.write(Data("written".utf8), at: 0)
            case .append: try handle.append(Data("added".utf8))
            case .truncate: try handle.truncate(to: 3)
            case .punch: try handle.punch(0..<2)
            case .length: _ = try handle.length
            // To its own, which needs the old key and the new one.
            case .changeClass: try handle.setProtection(try handle.protection)
            }
        }
    }

    /// Two programs with the same keychain and one time, in which answers about the lock grow old.
    private struct Programs {
        let keychain: TestKeychain
        let directory: URL
        let one: ProtectedFiles
        let other: ProtectedFiles
        private let time: TimeForTests

        init(_ keychain: TestKeychain, _ host: KeychainHost) throws {
            self.keychain = keychain
            directory = keychain.directory.appendingPathComponent("files")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            let time = TimeForTests()
            self.time = time
            one = ProtectedFiles(
                connection: Connection(engine: keychain.handler, caller: Caller(groups: ["G"])), now: { time.now })
            // As another process has it: an engine of its own, or another connection.
            let handler: any RequestHandler =
                host == .daemon ? keychain.handler : try Engine(keychain.configuration)
            other = ProtectedFiles(
                connection: Connection(engine: handler, caller: Caller(groups: ["H"])), now: { time.now })
            try keychain.setPasscode("1234")
        }

        func url(_ name: String) -> URL { directory.appendingPathComponent(name) }

        func lock() throws {
            try keychain.lock(.withGrace)
            time.pass(LockGate.patience)
        }

        /// The time for which an answer about the lock holds if nothing tells of a change.
        func pass() { time.pass(.milliseconds(500)) }
    }

    private func withPrograms(_ host: KeychainHost, _ body: (Programs) throws -> Void) throws {
        try withKeychain(host) { keychain throws in try body(Programs(keychain, host)) }
    }

    private func code(_ body: () throws -> Void) -> DataProtectionError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? DataProtectionError)?.code
        }
    }

    @Test(
        "An open file of class A is refused while locked and works again afterwards, and all others go on",
        arguments: KeychainHost.carriers)
    func openHandles(host: KeychainHost) throws {
        try withPrograms(host) { programs throws in
            for (name, files) in [("one", programs.one), ("other", programs.other)] {
                for protection in FileProtection.allCases {
                    for operation in Operation.allCases {
                        let url = programs.url("\(name) \(protection) \(operation)")
                        try files.write(content(40_000), to: url, protection: protection)
                        let handle = try files.open(url, for: .writing)
                        let comment: Comment = "\(name) \(protection) \(operation)"
                        #expect(code { try operation.perform(handle) } == nil, comment)
                        let before = try handle.read(at: 0, count: 100_000)
                        try programs.lock()
                        let isRefused = protection == .complete
                        // Class B cannot be unwrapped while locked, by whoever has it open.
                        let isChangeOfB = protection == .completeUnlessOpen && operation == .changeClass
                        let found = code { try operation.perform(handle) }
                        #expect(found == (isRefused || isChangeOfB ? .locked : nil), comment)
                        try programs.keychain.unlock("1234")
                        if isRefused {
                            #expect(try handle.read(at: 0, count: 100_000) == before, "nothing was changed")
                        }
                        #expect(code { try operation.perform(handle) } == nil, "without opening it again")
                        try handle.close()
                        if operation == .truncate { #expect(try files.read(from: url).count == 3) }
                    }
                }
            }
        }
    }

    @Test(
        "What was open before the lock cannot be opened a second time in classes A and B",
        arguments: KeychainHost.carriers)
    func reopening(host: KeychainHost) throws {
        try withPrograms(host) { programs throws in
            for protection in FileProtection.allCases {
                let url = programs.url("\(protection)")
                try programs.one.write(Data("content".utf8), to: url, protection: protection)
                let handle = try programs.one.open(url, for: .writing)
                try programs.lock()
                let expected: DataProtectionError.Code? =
                    [.complete, .completeUnlessOpen].contains(protection) ? .locked : nil
                for files in [programs.one, programs.other] {
                    #expect(code { _ = try files.open(url) } == expected, "\(protection)")
                    #expect(code { _ = try files.open(url, for: .writing) } == expected, "\(protection)")
                }
                try programs.keychain.unlock("1234")
                #expect(try handle.read(at: 0, count: 7) == Data("content".utf8))
            }
        }
    }

    @Test(
        "A file of class B that is made while locked is read and written by its handle alone",
        arguments: KeychainHost.carriers)
    func madeWhileLocked(host: KeychainHost) throws {
        try withPrograms(host) { programs throws in
            try programs.lock()
            for protection in FileProtection.allCases {
                let url = programs.url("\(protection)")
                let isRefused = protection == .complete
                var handle: ProtectedFileHandle?
                let found = code {
                    handle = try programs.one.open(url, for: .writing, options: .create, protection: protection)
                }
                #expect(found == (isRefused ? .locked : nil))
                #expect(FileManager.default.fileExists(atPath: url.path) == !isRefused, "nothing is left behind")
                guard let handle else { continue }
                try handle.write(Data("while locked".utf8), at: 0)
                try handle.append(Data(", and more".utf8))
                try handle.sync()
                #expect(try handle.read(at: 6, count: 100) == Data("locked, and more".utf8))
                let expected: DataProtectionError.Code? = protection == .completeUnlessOpen ? .locked : nil
                #expect(code { _ = try programs.other.open(url) } == expected)
                #expect(code { _ = try programs.one.open(url) } == expected)
                try handle.close()
                #expect(code { _ = try programs.one.read(from: url) } == expected)
            }
            try programs.keychain.unlock("1234")
            for protection in FileProtection.allCases where protection != .complete {
                #expect(
                    try programs.other.read(from: programs.url("\(protection)")) == Data("while locked, and more".utf8))
            }
        }
    }

    @Test(
        "What was written to class A before the lock is there and whole, whoever locks",
        arguments: KeychainHost.carriers)
    func dirty(host: KeychainHost) async throws {
        try await withKeychain(host) { keychain async throws in
            let programs = try Programs(keychain, host)
            let url = programs.url("file")
            let handle = try programs.one.open(url, for: .writing, options: .create, protection: .complete)
            let expected = content(300_000)
            try await handle.write(expected, at: 0)
            let header = try handle.file.current().0.header
            #expect(!header.isDurable, "the disk was not asked to have it")
            try programs.lock()
            // By the one thread that watches, without anybody using the file.
            try await eventually { !handle.hasKey }
            try programs.keychain.unlock("1234")
            #expect(try handle.file.current().0.header.isDurable, "it was made durable before the key went")
            #expect(try await handle.read(at: 0, count: expected.count) == expected)
            #expect(try programs.other.read(from: url) == expected)
        }
    }

    @Test(
        "After a lock no handle of class A has its key, and those of the others have theirs",
        arguments: KeychainHost.carriers)
    func keys(host: KeychainHost) async throws {
        try await withKeychain(host) { keychain async throws in
            let programs = try Programs(keychain, host)
            var handles: [(FileProtection, ProtectedFileHandle)] = []
            for number in 0..<50 {
                for protection in FileProtection.allCases {
                    let url = programs.url("\(protection) \(number)")
                    try programs.one.write(Data("content".utf8), to: url, protection: protection)
                    handles.append((protection, try programs.one.open(url, for: number % 2 == 0 ? .reading : .writing)))
                }
            }
            // One whose class is made A by another program, and that nobody uses any more.
            let changed = programs.url("changed")
            try programs.one.write(Data("content".utf8), to: changed, protection: .completeUntilFirstUserAuthentication)
            handles.append((.complete, try programs.one.open(changed)))
            try programs.other.setProtection(.complete, of: changed)
            #expect(handles.allSatisfy { $0.1.hasKey })
            try programs.lock()
            let those = handles
            try await eventually { those.allSatisfy { $0.1.hasKey == ($0.0 != .complete) } }
            try programs.keychain.unlock("1234")
            for (_, handle) in handles { #expect(try await handle.read(at: 0, count: 7) == Data("content".utf8)) }
        }
    }

    @Test(
        "An open file of the class for an inactive user works within the time after a lock, and not afterwards",
        arguments: KeychainHost.carriers)
    func inactive(host: KeychainHost) throws {
        try withPrograms(host) { programs throws in
            for files in [programs.one, programs.other] {
                let url = programs.url("file")
                try files.write(content(40_000), to: url, protection: .completeWhenUserInactive)
                let handle = try files.open(url, for: .writing)
                for operation in Operation.allCases {
                    try programs.lock()
                    try operation.perform(handle)
                    programs.keychain.clock.advance(by: 600)
                    programs.pass()
                    #expect(code { try operation.perform(handle) } == .locked, "\(operation)")
                    #expect(code { _ = try files.open(url) } == .locked)
                    #expect(code { try files.write(Data(), to: url, protection: .completeWhenUserInactive) } == .locked)
                    try programs.keychain.unlock("1234")
                    try operation.perform(handle)
                }
                try handle.close()
            }
        }
    }

    @Test(
        "The key of an open file leaves when its time after a lock is over, wherever the file was opened",
        arguments: KeychainHost.carriers, [false, true])
    func inactiveKey(host: KeychainHost, isLockedAtOnce: Bool) async throws {
        try await withKeychain(host) { keychain async throws in
            let programs = try Programs(keychain, host)
            let url = programs.url("file")
            try programs.one.write(Data("content".utf8), to: url, protection: .completeWhenUserInactive)
            let before = try programs.one.open(url)
            try programs.lock()
            let within = [try programs.one.open(url), try programs.other.open(url)]
            #expect(try await before.read(at: 0, count: 7) == Data("content".utf8))
            #expect(([before] + within).allSatisfy { $0.hasKey })
            if isLockedAtOnce { try keychain.lock(.now) } else { keychain.clock.advance(by: 600) }
            // By nobody's call.
            try await eventually { ([before] + within).allSatisfy { !$0.hasKey } }
            try keychain.unlock("1234")
            #expect(try await before.read(at: 0, count: 7) == Data("content".utf8))
        }
    }

    @Test("A class that changes under an open handle holds for it from then on", arguments: KeychainHost.carriers)
    func changedClass(host: KeychainHost) throws {
        try withPrograms(host) { programs throws in
            for old in FileProtection.allCases {
                for new in FileProtection.allCases {
                    let url = programs.url("\(old) \(new)")
                    try programs.one.write(content(20_000), to: url, protection: old)
                    let handle = try programs.one.open(url, for: .writing)
                    try handle.write(Data("unsaved".utf8), at: 10)
                    // By name, in another program: what the handle wrote is part of it.
                    try programs.other.setProtection(new, of: url)
                    #expect(try handle.protection == new)
                    #expect(try programs.other.read(from: url)[10..<17] == Data("unsaved".utf8))
                    try handle.write(Data("later".utf8), at: 5_000)
                    try programs.lock()
                    let found = code { _ = try handle.read(at: 0, count: 1) }
                    #expect(found == (new == .complete ? .locked : nil), "\(old) to \(new)")
                    try programs.keychain.unlock("1234")
                    #expect(try handle.read(at: 5_000, count: 5) == Data("later".utf8))
                }
            }
        }
    }

    @Test("A call of class A that is under way when the keychain is locked goes on, and the next one is refused")
    func grace() throws {
        try withKeychain(.embedded) { keychain throws in
            try keychain.setPasscode("1234")
            let (disk, time) = (InterruptedFiles(.write), TimeForTests())
            let files = ProtectedFiles(
                connection: Connection(engine: keychain.handler, caller: Caller(groups: ["G"])), files: disk,
                now: { time.now })
            let url = keychain.directory.appendingPathComponent("file")
            let handle = try files.open(url, for: .writing, options: .create, protection: .complete)
            let whole = content(10 << 20)
            disk.interrupt(at: 5) { try keychain.lock(.withGrace) }
            try handle.write(whole, at: 0)
            #expect(try disk.wasInterrupted())
            #expect(code { _ = try handle.read(at: 0, count: 1) } == .locked)
            try keychain.unlock("1234")
            #expect(try handle.read(at: 0, count: whole.count) == whole)
        }
    }

    @Test("A lock without grace takes the key from a call that is under way, and the file stays sound")
    func forcedLock() throws {
        try withKeychain(.embedded) { keychain throws in
            try keychain.setPasscode("1234")
            let disk = InterruptedFiles(.write)
            let files = ProtectedFiles(
                connection: Connection(engine: keychain.handler, caller: Caller(groups: ["G"])), files: disk)
            let url = keychain.directory.appendingPathComponent("file")
            let handle = try files.open(url, for: .writing, options: .create, protection: .complete)
            let whole = content(10 << 20)
            disk.interrupt(at: 5) {
                try keychain.lock(.now)
                try awaitLoss(of: handle)
            }
            let outcome = code { try handle.write(whole, at: 0) }
            #expect(outcome == nil || outcome == .locked)
            #expect(try disk.wasInterrupted())
            #expect(code { _ = try handle.read(at: 0, count: 1) } == .locked)
            try keychain.unlock("1234")
            #expect(try files.check(url).findings.isEmpty)
            try handle.write(whole, at: 0)
            #expect(try handle.read(at: 0, count: whole.count) == whole)
        }
    }

    @Test(
        "A file that was used between two locks loses its key again, though a call has outlived both",
        arguments: KeychainHost.carriers)
    func secondLock(host: KeychainHost) throws {
        try withKeychain(host) { keychain throws in
            try keychain.setPasscode("1234")
            let (disk, time) = (InterruptedFiles(.write), TimeForTests())
            let files = ProtectedFiles(
                connection: Connection(engine: keychain.handler, caller: Caller(groups: ["G"])), files: disk,
                now: { time.now })
            let url = keychain.directory.appendingPathComponent("idle")
            try files.write(Data("content".utf8), to: url, protection: .complete)
            let idle = try files.open(url)
            let busy = try files.open(
                keychain.directory.appendingPathComponent("busy"), for: .writing, options: .create,
                protection: .complete)
            disk.interrupt(at: 5) {
                for _ in 0..<3 {
                    #expect(try idle.read(at: 0, count: 7) == Data("content".utf8))
                    #expect(idle.hasKey)
                    try keychain.lock(.withGrace)
                    try awaitLoss(of: idle)
                    #expect(busy.hasKey, "the time of its call is not over")
                    try keychain.unlock("1234")
                }
            }
            try busy.write(content(10 << 20), at: 0)
            #expect(try disk.wasInterrupted())
        }
    }
}

/// Waits until another thread has taken the key of a file.
private func awaitLoss(of handle: ProtectedFileHandle) throws {
    let end = ContinuousClock.now + .seconds(60)
    while handle.hasKey {
        guard ContinuousClock.now < end else { throw CocoaError(.userCancelled) }
        usleep(1_000)
    }
}

/// A time that goes on when it is told to.
private final class TimeForTests: Sendable {
    private let time = Mutex(ContinuousClock.now)
    var now: ContinuousClock.Instant { time.withLock { $0 } }
    func pass(_ duration: Duration) { time.withLock { $0 += duration } }
}

/// Waits for what another thread does, and fails if it is not done in a long time.
private func eventually(_ condition: @Sendable () -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(60)
    while !condition() {
        guard ContinuousClock.now < end else {
            Issue.record("it has not happened")
            return
        }
        try await Task.sleep(for: .milliseconds(1))
    }
}
