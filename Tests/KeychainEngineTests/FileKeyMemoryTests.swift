import Foundation
import KeychainModel
import KeychainTestSupport
import Testing

@testable import KeychainCrypto

/// What is left in the memory of a process that has opened the keys of files.
@Suite struct FileKeyMemoryTests {
    /// A process that has opened keys of classes A and B, of the newest generation and of one from before the passcode.
    private func withClient(
        usesKeyring: Bool,
        _ body: (TestKeychain, AgentProcess, _ needles: [String: Data], _ files: [FileKey]) throws -> Void
    ) throws {
        try withKeychain { keychain in
            let classes: [FileClass] = [.complete, .completeUnlessOpen]
            let ids = (0..<2).map { _ in classes.map { _ in UUID() } }
            var files: [FileKey] = []
            for (fileClass, id) in zip(classes, ids[0]) {
                files.append(try keychain.engine.fileKey(.make(fileClass, fileID: id)))
            }
            try keychain.setPasscode("1234")
            for (fileClass, id) in zip(classes, ids[1]) {
                files.append(try keychain.engine.fileKey(.make(fileClass, fileID: id)))
            }
            var needles: [String: Data] = [:]
            for (name, key) in try StoreNeedles(keychain.directory, passcode: "1234").keys {
                if ["class key 1", "class key 2"].contains(name) { needles[name] = key }
            }
            let bag = try keychain.keybag
            let derived = try PasscodeKey(
                .of("1234"), try #require(bag.passcode), storeID: bag.storeID, deviceKey: keychain.deviceKey)
            let keys = try bag.unwrap(deviceKey: keychain.deviceKey, passcodeKey: derived.key)
            for fileClass in classes {
                needles["retired key \(fileClass.rawValue)"] = try bag.withRetiredKey(
                    fileClass, generation: 1, from: keys[.whenUnlocked]
                ) { Data($0) }
            }
            for (number, file) in files.enumerated() { needles["file key \(number)"] = file.key.copyData() }
            try #require(needles.count == 8)
            let client = try AgentProcess("serve", keychain.directory.path, usesKeyring: usesKeyring)
            defer { try? client.end() }
            if !usesKeyring { try #require(try client.ask("unlock 1234") == "0") }
            for file in files { try #require(try client.ask("open-file \(file.wrapped.text)") == "0") }
            try body(keychain, client, needles, files)
        }
    }

    @Test(
        "A client of the kernel's keyring keeps no key of a file that was given back, nor of its class",
        .enabled(if: hasKeyring))
    func clientOfKeyring() throws {
        try withClient(usesKeyring: true) { keychain, client, needles, files throws in
            let scanner = MemoryScanner(process: client.identifier)
            for file in files { #expect(try client.ask("open-file \(file.wrapped.text)") == "0") }
            #expect(try scanner.hits(of: needles) == [])
            // The control: the same scan sees the keys that the process has not given back.
            for file in files { #expect(try client.ask("hold-file \(file.wrapped.text)") == "0") }
            #expect(try scanner.hits(of: needles) == Set(files.indices.map { "file key \($0)" }))
            #expect(try client.ask("give-back") == "0")
            #expect(try scanner.hits(of: needles) == [])
            try keychain.lock()
            for file in files { #expect(try client.ask("open-file \(file.wrapped.text)") == "-25308") }
            #expect(try scanner.hits(of: needles) == [])
        }
    }

    @Test(
        "A program that has written, read and closed a file has its key no more, in no register nor on the stack",
        .enabled(if: hasKeyring))
    func closedFile() throws {
        try withClient(usesKeyring: true) { keychain, client, _, _ throws in
            let text = try client.ask("use-file \(keychain.directory.appending(path: "file").path)")
            let wrapped = try #require(WrappedFileKey(text: text), "\(text)")
            let key = try keychain.engine.fileKey(.open(wrapped)).key.copyData()
            let material = try KeyMaterial { $0.copyBytes(from: key) }
            let content = material.withDerived("file content 1", KeyContext(wrapped.fileID).adding(UInt64(0))) {
                Data($0)
            }
            let needles = ["file key": key, "content key": content]
            let scanner = MemoryScanner(process: client.identifier)
            #expect(try scanner.hits(of: needles) == [])
            // The control: a key that is held is found.
            #expect(try client.ask("hold-file \(text)") == "0")
            #expect(try scanner.hits(of: needles) == ["file key"])
        }
    }

    @Test("A process that holds the keys by itself loses them at the lock, and never keeps those of files")
    func processThatHoldsKeys() throws {
        try withClient(usesKeyring: false) { keychain, client, needles, files throws in
            let scanner = MemoryScanner(process: client.identifier)
            #expect(try scanner.hits(of: needles) == ["class key 1", "class key 2"])
            try keychain.lock(.now)
            #expect(try isTrueSoon { try scanner.hits(of: needles).isEmpty })
            #expect(try client.ask("open-file \(files[0].wrapped.text)") == "-25308")
            #expect(try scanner.hits(of: needles) == [])
        }
    }

    /// Asks again and again, for minutes if need be: a process that is told of a lock erases its keys when it gets its turn.
    private func isTrueSoon(_ condition: () throws -> Bool) throws -> Bool {
        let end = ContinuousClock.now + .seconds(300)
        while ContinuousClock.now < end {
            if try condition() { return true }
        }
        return try condition()
    }
}
