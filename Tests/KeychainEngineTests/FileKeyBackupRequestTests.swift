import Foundation
import KeychainCrypto
import KeychainEngine
import KeychainModel
import KeychainTestSupport
import Testing

/// Who gets the class keys of files, sealed, and when; and how a key from elsewhere comes under those of a store.
@Suite struct FileKeyBackupRequestTests {
    private static let passphrase = SecretBytes.of("correct horse")

    private func backup(
        of handler: any RequestHandler, as caller: Caller = .owner
    ) throws -> (file: Data, backup: FileKeyBackup) {
        let seal = try FileKeyBackupSeal(passphrase: Self.passphrase, cost: 4)
        let request = FileKeyBackupRequest(header: seal.header, key: seal.key)
        guard case .fileKeyBackup(let file) = try handler.handle(.backUpFileKeys(request), from: caller) else {
            throw KeychainError(.internalFailure, message: "another reply")
        }
        return (file, try FileKeyBackup(opening: file, passphrase: Self.passphrase))
    }

    private func code(_ body: () throws -> Void) throws -> KeychainError.Code? {
        do {
            try body()
            return nil
        } catch let error as KeychainError {
            return error.code
        }
    }

    @Test("A backup key opens files of every generation there is", arguments: KeychainHost.allCases)
    func generations(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            var keys = try keychain.handler.makeFileKeys()
            try keychain.setPasscode("1")
            keys += try keychain.handler.makeFileKeys()
            try keychain.handler.changePasscode(from: "1", to: "2", rekey: true)
            keys += try keychain.handler.makeFileKeys()
            let (file, backup) = try backup(of: keychain.handler)
            #expect(file.count == 127 + 37 * 12)
            // Made afterwards, under the same keys.
            keys += try keychain.handler.makeFileKeys()
            try keychain.handler.changePasscode(from: "2", to: "3")
            keys += try keychain.handler.makeFileKeys()
            for key in keys { #expect(try backup.unwrap(key.wrapped).copyData() == key.key.copyData()) }
            try keychain.handler.changePasscode(from: "3", to: "4", rekey: true)
            for key in try keychain.handler.makeFileKeys() {
                #expect(try code { _ = try backup.unwrap(key.wrapped) } == .noSuchKeychain)
            }
        }
    }

    @Test("While keys are renewed, a backup key has both generations", arguments: KeychainHost.carriers)
    func halfWay(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            for number in 0..<510 { try keychain.engine.add(.password("\(number)")) }
            var keys = try keychain.handler.makeFileKeys()
            var reply = try keychain.handler.handle(.passcode(.set(.of("1"))), from: .owner)
            reply = try keychain.handler.handle(.rekeyStep, from: .owner)
            keys += try keychain.handler.makeFileKeys()
            let backup = try backup(of: keychain.handler).backup
            for key in keys { #expect(try backup.unwrap(key.wrapped).copyData() == key.key.copyData()) }
            try keychain.handler.finishRekey(after: reply)
        }
    }

    @Test("Only the owner gets one, and only while unlocked", arguments: KeychainHost.allCases)
    func refusals(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            #expect(try code { _ = try backup(of: keychain.handler, as: caller) } == .missingEntitlement)
            #expect(try code { _ = try backup(of: keychain.handler) } == nil, "without a passcode it is unlocked")
            try keychain.setPasscode("1234")
            #expect(try code { _ = try backup(of: keychain.handler) } == nil)
            try keychain.lock()
            #expect(try code { _ = try backup(of: keychain.handler) } == .interactionNotAllowed)
            #expect(try code { _ = try backup(of: keychain.handler, as: caller) } == .missingEntitlement)
            keychain.restart()
            #expect(try code { _ = try backup(of: keychain.handler) } == .interactionNotAllowed)
            try keychain.unlock("1234")
            #expect(try code { _ = try backup(of: keychain.handler) } == nil)
        }
    }

    @Test("A header or a key of another size is refused", arguments: KeychainHost.carriers)
    func sizes(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            for (header, key) in [(82, 32), (84, 32), (0, 32), (83, 31), (83, 33), (83, 0)] {
                let request = FileKeyBackupRequest(
                    header: Data(count: header), key: SecretBytes(copying: Data(count: key)))
                let found = try code { _ = try keychain.handler.handle(.backUpFileKeys(request), from: .owner) }
                #expect(found == .parameter)
            }
            for count in [0, 31, 33] {
                let key = SecretBytes(copying: Data(count: count))
                #expect(
                    try code { _ = try keychain.handler.fileKey(.adopt(key, .always, fileID: UUID())) } == .parameter)
            }
        }
    }

    @Test("No class key is in a backup key in clear, nor what seals it", arguments: KeychainHost.carriers)
    func needles(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            let seal = try FileKeyBackupSeal(passphrase: Self.passphrase, cost: 4)
            let request = FileKeyBackupRequest(header: seal.header, key: seal.key)
            guard case .fileKeyBackup(let file) = try keychain.handler.handle(.backUpFileKeys(request), from: .owner)
            else {
                throw KeychainError(.internalFailure, message: "another reply")
            }
            let bag = try keychain.keybag
            let keys = try bag.unwrap(deviceKey: try keychain.deviceKey)
            var needles = ["seal": seal.key.copyData(), "passphrase": Self.passphrase.copyData()]
            for fileClass in FileClass.allCases {
                needles["\(fileClass)"] = try bag.withFileClassKey(
                    fileClass, generation: 1, from: keys[fileClass.source.tier]
                ) { Data($0) }
            }
            #expect(needles.count == 7)
            let scanner = TraceScanner(needles)
            #expect(scanner.traces(in: file).isEmpty)
            #expect(try scanner.traces(below: keychain.directory) == [:])
            // The control.
            #expect(!scanner.traces(in: file + needles["complete"]!).isEmpty)
        }
    }

    @Test(
        "A key from elsewhere comes under a class whenever a file of that class can be made",
        arguments: KeychainHost.allCases)
    func adopt(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            try keychain.setPasscode("1234")
            let key = SecretBytes(copying: Data(1...32))
            func adopt(_ fileClass: FileClass) throws(KeychainError) -> FileKey {
                try keychain.handler.fileKey(.adopt(key, fileClass, fileID: UUID()))
            }
            var adopted: [FileKey] = []
            for fileClass in FileClass.allCases { adopted.append(try adopt(fileClass)) }
            #expect(adopted.allSatisfy { $0.key.copyData() == key.copyData() })
            #expect(adopted.map(\.wrapped.fileClass) == FileClass.allCases)
            expectKeys(adopted, in: keychain.handler)
            try keychain.lock()
            #expect(try code { _ = try adopt(.complete) } == .interactionNotAllowed)
            for fileClass in FileClass.allCases.dropFirst() { #expect(try code { _ = try adopt(fileClass) } == nil) }
            keychain.restart()
            for fileClass in [FileClass.complete, .completeUntilFirstUserAuthentication] {
                #expect(try code { _ = try adopt(fileClass) } == .interactionNotAllowed)
            }
            for fileClass in [FileClass.completeUnlessOpen, .always] {
                #expect(try code { _ = try adopt(fileClass) } == nil)
            }
        }
    }
}
