import Foundation
import KeychainClient
import KeychainEngine
import KeychainModel
import KeychainTestSupport
import SwiftKeychain
import Synchronization
import Testing

@testable import DataProtection
@testable import DataProtectionCore

/// Every cell of the table of classes and operations that whole files can show, on both hosts. What is locked is told so,
/// and never anything else.
@Suite struct FileLockTests {
    enum State: CaseIterable {
        case unlocked, withinTimeAfterLock, locked, neverUnlocked
    }

    /// Whether the key of a class is within reach.
    private static func isOpen(_ protection: FileProtection, _ state: State, isNew: Bool = false) -> Bool {
        switch (protection, state) {
        case (_, .unlocked), (.always, _), (.completeUntilFirstUserAuthentication, .locked),
            (.completeUntilFirstUserAuthentication, .withinTimeAfterLock),
            (.completeWhenUserInactive, .withinTimeAfterLock):
            true
        case (.completeUnlessOpen, _): isNew
        default: false
        }
    }

    /// Runs `body` with a passcode set, one file of each class, and then the lock in a state.
    private func withState(
        _ host: KeychainHost, _ state: State, _ body: (ProtectedFiles, URL, TestKeychain) throws -> Void
    ) throws {
        try withProtectedFiles(on: host) { files, directory, keychain throws in
            try keychain.setPasscode("1234")
            for protection in FileProtection.allCases {
                try files.write(
                    Data(protection.rawValue.utf8), to: directory.appendingPathComponent(protection.rawValue),
                    protection: protection)
            }
            switch state {
            case .unlocked: break
            case .withinTimeAfterLock: try keychain.lock()
            case .locked: try keychain.lock(.now)
            case .neverUnlocked: keychain.restart()
            }
            try body(files, directory, keychain)
        }
    }

    private func code(_ body: () throws -> Void) -> DataProtectionError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? DataProtectionError)?.code
        }
    }

    /// Why a file is refused; nil: it has the content that it should have.
    private func reading(_ files: ProtectedFiles, _ url: URL, _ content: Data) -> DataProtectionError.Code? {
        do throws(DataProtectionError) {
            #expect(try files.read(from: url) == content)
            return nil
        } catch {
            return error.code
        }
    }

    @Test("A file opens exactly while its class says so", arguments: KeychainHost.carriers, State.allCases)
    func open(host: KeychainHost, state: State) throws {
        // A daemon that ends has no keys either, but this one goes on.
        if host == .daemon && state == .neverUnlocked { return }
        try withState(host, state) { files, directory, _ throws in
            for protection in FileProtection.allCases {
                let url = directory.appendingPathComponent(protection.rawValue)
                let expected: DataProtectionError.Code? = Self.isOpen(protection, state) ? nil : .locked
                let read = reading(files, url, Data(protection.rawValue.utf8))
                #expect(read == expected, "\(protection)")
                #expect(code { try files.read(from: url) { _ in } } == expected)
                #expect(try files.info(of: url).refusal?.code == expected)
            }
        }
    }

    @Test("A new file can be made exactly while its class says so", arguments: KeychainHost.carriers, State.allCases)
    func create(host: KeychainHost, state: State) throws {
        if host == .daemon && state == .neverUnlocked { return }
        try withState(host, state) { files, directory, keychain throws in
            for protection in FileProtection.allCases { try create(protection, state, files, directory) }
            let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
            #expect(!names.contains { Replacement.isName($0) })
            try keychain.unlock("1234")
            for protection in FileProtection.allCases {
                let wasWritten = Self.isOpen(protection, state, isNew: true)
                let old = directory.appendingPathComponent(protection.rawValue)
                #expect(try files.read(from: old) == Data((wasWritten ? "new" : protection.rawValue).utf8))
            }
        }
    }

    private func create(
        _ protection: FileProtection, _ state: State, _ files: ProtectedFiles, _ directory: URL
    ) throws {
        let url = directory.appendingPathComponent("new \(protection.rawValue)")
        let expected: DataProtectionError.Code? = Self.isOpen(protection, state, isNew: true) ? nil : .locked
        #expect(code { try files.write(Data("new".utf8), to: url, protection: protection) } == expected)
        #expect(FileManager.default.fileExists(atPath: url.path) == (expected == nil), "nothing is left behind")
        // What is there stays as it is.
        let old = directory.appendingPathComponent(protection.rawValue)
        #expect(code { try files.write(Data("new".utf8), to: old, protection: protection) } == expected)
        // To open it again is another matter: class B opens after the unlock alone.
        if expected == nil {
            #expect(reading(files, url, Data("new".utf8)) == (Self.isOpen(protection, state) ? nil : .locked))
        }
    }

    @Test(
        "What is no content can be looked at and changed in any state", arguments: KeychainHost.carriers, State.allCases
    )
    func names(host: KeychainHost, state: State) throws {
        if host == .daemon && state == .neverUnlocked { return }
        try withState(host, state) { files, directory, keychain throws in
            for protection in FileProtection.allCases {
                let url = directory.appendingPathComponent(protection.rawValue)
                let info = try files.info(of: url)
                #expect(info.protection == protection && info.length == UInt64(protection.rawValue.utf8.count))
                #expect(try files.protection(of: url) == protection)
                #expect(try files.isProtected(url))
                let moved = directory.appendingPathComponent("moved \(protection.rawValue)")
                let copied = directory.appendingPathComponent("copied \(protection.rawValue)")
                let linked = directory.appendingPathComponent("linked \(protection.rawValue)")
                try FileManager.default.moveItem(at: url, to: moved)
                try FileManager.default.copyItem(at: moved, to: copied)
                try FileManager.default.linkItem(at: moved, to: linked)
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: moved.path)
                try keychain.unlock("1234")
                for place in [moved, copied, linked] {
                    #expect(try files.read(from: place) == Data(protection.rawValue.utf8), "wherever it is")
                }
                try FileManager.default.removeItem(at: moved)
                if state == .withinTimeAfterLock { try keychain.lock() }
                if state == .locked { try keychain.lock(.now) }
                if state == .neverUnlocked { keychain.restart() }
            }
        }
    }

    @Test(
        "A class changes if the old key opens and the new one is there", arguments: KeychainHost.carriers,
        State.allCases)
    func change(host: KeychainHost, state: State) throws {
        if host == .daemon && state == .neverUnlocked { return }
        try withState(host, state) { files, directory, keychain throws in
            for old in FileProtection.allCases {
                for new in FileProtection.allCases {
                    let url = directory.appendingPathComponent("file")
                    let source = directory.appendingPathComponent(old.rawValue)
                    try? FileManager.default.removeItem(at: url)
                    try FileManager.default.copyItem(at: source, to: url)
                    let mayChange = Self.isOpen(old, state) && Self.isOpen(new, state, isNew: true)
                    let before = try Data(contentsOf: url)
                    #expect(
                        code { try files.setProtection(new, of: url) } == (mayChange ? nil : .locked),
                        "\(old) to \(new)")
                    #expect(try files.protection(of: url) == (mayChange ? new : old))
                    if !mayChange { #expect(try Data(contentsOf: url) == before, "nothing was changed") }
                }
            }
        }
    }

    @Test("Two programs at once see the same lock", arguments: [KeychainHost.embedded, .daemon])
    func twoPrograms(host: KeychainHost) throws {
        try withState(host, .unlocked) { files, directory, keychain throws in
            // As another process has it: an engine of its own, or another connection.
            let handler: any RequestHandler =
                host == .daemon ? keychain.handler : try Engine(keychain.configuration)
            let other = ProtectedFiles(connection: Connection(engine: handler, caller: Caller(groups: ["H"])))
            let url = directory.appendingPathComponent("complete")
            #expect(try other.read(from: url) == Data("complete".utf8))
            try other.write(Data("other".utf8), to: url, protection: .complete)
            #expect(try files.read(from: url) == Data("other".utf8))
            try keychain.lock(.now)
            #expect(code { _ = try other.read(from: url) } == .locked)
            let made = directory.appendingPathComponent("made")
            try other.write(Data("while locked".utf8), to: made, protection: .completeUnlessOpen)
            #expect(code { _ = try files.read(from: made) } == .locked)
            try keychain.unlock("1234")
            #expect(try files.read(from: made) == Data("while locked".utf8))
            #expect(try other.read(from: url) == Data("other".utf8))
        }
    }

    @Test(
        "What is under way when the keychain is locked has its time, by its class, and none if it is locked now",
        arguments: [true, false], [LockRequest.withGrace, .now])
    func grace(isReading: Bool, lock: LockRequest) throws {
        try withProtectedFiles { _, directory, keychain throws in
            try keychain.setPasscode("1234")
            let time = Mutex(ContinuousClock.now)
            let connection = Connection(engine: keychain.handler, caller: Caller(groups: ["G"]))
            let files = ProtectedFiles(connection: connection, now: { time.withLock { $0 } })
            let content = content(40 << 20)
            for protection in FileProtection.allCases {
                let url = directory.appendingPathComponent(protection.rawValue)
                try files.write(content, to: url, protection: protection)
                var count = 0
                let outcome = code {
                    func pass() throws {
                        count += 1
                        if count == 2 { try keychain.lock(lock) }
                        time.withLock { $0 += .seconds(4) }
                    }
                    if isReading {
                        try files.read(from: url) { _ in try pass() }
                    } else {
                        var offset = 0
                        try files.write(to: url, protection: protection) { target in
                            let part = content[offset...].prefix(min(target.count, 4 << 20))
                            part.copyBytes(to: target)
                            offset += part.count
                            try pass()
                            return part.count
                        }
                    }
                }
                try keychain.unlock("1234")
                let isEnded = protection == .complete || protection == .completeWhenUserInactive && lock == .now
                #expect(outcome == (isEnded ? .locked : nil), "\(protection)")
                // Seen locked at the second part, and refused when more than ten seconds had passed.
                if isEnded { #expect(count == (lock == .now ? 2 : 5)) }
                #expect(try files.read(from: url) == content)
            }
        }
    }

    @Test("Locked is what Apple's systems report: no permission, because of EPERM")
    func cocoaError() throws {
        try withState(.embedded, .locked) { files, directory, _ throws in
            let url = directory.appendingPathComponent("complete")
            let error = #expect(throws: DataProtectionError.self) { try files.read(from: url) }
            let reading = try #require(error?.cocoaError(.reading))
            #expect(reading.code == .fileReadNoPermission && reading.code.rawValue == 257)
            #expect((reading.underlying as? POSIXError)?.code == .EPERM)
            let writing = try #require(error?.cocoaError(.writing))
            #expect(writing.code == .fileWriteNoPermission && writing.code.rawValue == 513)
            #expect(error?.description.contains("keychainctl unlock") == true, "it says what to do")
        }
    }

    @Test("Without a passcode every class opens, and a passcode that is set later holds for files made before")
    func passcodeLater() throws {
        try withProtectedFiles { files, directory, keychain throws in
            for protection in FileProtection.allCases {
                let url = directory.appendingPathComponent(protection.rawValue)
                try files.write(Data("before".utf8), to: url, protection: protection)
                #expect(try files.read(from: url) == Data("before".utf8))
            }
            try keychain.setPasscode("1234")
            try keychain.lock(.now)
            for protection in FileProtection.allCases {
                let url = directory.appendingPathComponent(protection.rawValue)
                let expected: DataProtectionError.Code? = Self.isOpen(protection, .locked) ? nil : .locked
                let read = reading(files, url, Data("before".utf8))
                #expect(read == expected)
            }
            try keychain.unlock("1234")
            // No file is touched by a passcode; one whose class is set again is under the newest keys.
            let url = directory.appendingPathComponent("complete")
            let former = try files.info(of: url).keyGeneration
            try files.setProtection(.complete, of: url)
            #expect(try files.info(of: url).keyGeneration > former)
            #expect(try files.read(from: url) == Data("before".utf8))
        }
    }
}

extension CocoaError {
    fileprivate var underlying: (any Error)? { userInfo[NSUnderlyingErrorKey] as? any Error }
}
