import Foundation
import KeychainCrypto
import KeychainEngine
import KeychainModel
import KeychainTestSupport
import Testing

/// Which file keys are made and opened in which state of the lock, and what is refused.
@Suite struct FileKeyTests {
    enum State: String, CaseIterable { case noPasscode, neverUnlocked, unlocked, locked, lockedForLong, lockedAtOnce }

    struct Cell: Sendable, CustomTestStringConvertible {
        let host: KeychainHost
        let state: State

        var testDescription: String { "\(host.rawValue), \(state.rawValue)" }

        static let all = KeychainHost.allCases.flatMap { host in State.allCases.map { Cell(host: host, state: $0) } }
    }

    /// A keychain in a state, and a key of each class that was made when all could be.
    private func withKeys(_ cell: Cell, _ body: (TestKeychain, [FileKey]) throws -> Void) throws {
        try withKeychain(cell.host) { keychain in
            if cell.state != .noPasscode { try keychain.setPasscode("1234") }
            let keys = try keychain.handler.makeFileKeys()
            try enter(cell.state, keychain)
            try body(keychain, keys)
        }
    }

    private func enter(_ state: State, _ keychain: TestKeychain) throws {
        switch state {
        case .noPasscode, .unlocked: break
        case .neverUnlocked: keychain.restart()
        case .locked: try keychain.lock()
        case .lockedForLong:
            try keychain.lock()
            keychain.clock.advance(by: Double(PasscodePolicy.usualTimeAfterLock))
        case .lockedAtOnce: try keychain.lock(.now)
        }
    }

    private func mayOpen(_ fileClass: FileClass, _ state: State) -> Bool {
        switch fileClass {
        case .complete, .completeUnlessOpen: state == .noPasscode || state == .unlocked
        case .completeWhenUserInactive: state == .noPasscode || state == .unlocked || state == .locked
        case .completeUntilFirstUserAuthentication: state != .neverUnlocked
        case .always: true
        }
    }

    private func mayMake(_ fileClass: FileClass, _ state: State) -> Bool {
        fileClass == .completeUnlessOpen || mayOpen(fileClass, state)
    }

    private func expect(
        _ isAllowed: Bool, _ comment: Comment, sourceLocation: SourceLocation = #_sourceLocation,
        _ body: () throws(KeychainError) -> FileKey
    ) throws -> FileKey? {
        switch Result(catching: body) {
        case .success(let key):
            #expect(isAllowed, comment, sourceLocation: sourceLocation)
            return key
        case .failure(let error):
            #expect(
                !isAllowed && error.code == .interactionNotAllowed, "\(comment): \(error)",
                sourceLocation: sourceLocation)
            #expect(error.message.contains("keychainctl unlock"), comment, sourceLocation: sourceLocation)
            return nil
        }
    }

    @Test("A key is made for a class whose key is there, and for class B in every state", arguments: Cell.all)
    func making(cell: Cell) throws {
        try withKeys(cell) { keychain, _ in
            var keys: Set<Data> = []
            for fileClass in FileClass.allCases {
                let fileID = UUID()
                let made = try expect(mayMake(fileClass, cell.state), "\(fileClass)") { () throws(KeychainError) in
                    try keychain.handler.fileKey(.make(fileClass, fileID: fileID))
                }
                guard let made else { continue }
                #expect(made.wrapped.fileClass == fileClass && made.wrapped.fileID == fileID)
                #expect(made.wrapped.storeID == (try keychain.keybag.storeID))
                #expect(made.wrapped.generation == (try keychain.keybag.keyGeneration))
                #expect(made.wrapped.publicKey.count == (fileClass == .completeUnlessOpen ? 32 : 0))
                #expect(made.wrapped.wrappedKey.count == 40 && made.key.count == 32)
                #expect(keys.insert(made.key.copyData()).inserted)
                if cell.state != .noPasscode { try keychain.unlock("1234") }
                expectKeys([made], in: keychain.handler)
                try enter(cell.state, keychain)
            }
        }
    }

    @Test("A key is opened when the key of its class is there", arguments: Cell.all)
    func opening(cell: Cell) throws {
        try withKeys(cell) { keychain, keys in
            expectKeys(keys, in: keychain.handler) {
                mayOpen($0.wrapped.fileClass, cell.state) ? nil : .interactionNotAllowed
            }
        }
    }

    @Test("A key changes its class when the old one is there and the new one can be made", arguments: Cell.all)
    func rewrapping(cell: Cell) throws {
        try withKeys(cell) { keychain, keys in
            for key in keys {
                for fileClass in FileClass.allCases {
                    let isAllowed = mayOpen(key.wrapped.fileClass, cell.state) && mayMake(fileClass, cell.state)
                    let comment: Comment = "\(key.wrapped.fileClass) to \(fileClass)"
                    let made = try expect(isAllowed, comment) { () throws(KeychainError) in
                        try keychain.handler.fileKey(.rewrap(key.wrapped, fileClass))
                    }
                    guard let made else { continue }
                    #expect(made.key.copyData() == key.key.copyData(), comment)
                    #expect(made.wrapped.fileClass == fileClass && made.wrapped.fileID == key.wrapped.fileID, comment)
                    #expect(fileClass != .completeUnlessOpen || made.wrapped.publicKey != key.wrapped.publicKey)
                    expectKeys([made], in: keychain.handler) {
                        mayOpen($0.wrapped.fileClass, cell.state) ? nil : .interactionNotAllowed
                    }
                }
            }
        }
    }

    // MARK: Refusals

    @Test("A file of another keychain is told as such, in every state", arguments: Cell.all)
    func foreign(cell: Cell) throws {
        try withKeys(cell) { keychain, keys in
            try withKeychain { other in
                for key in keys {
                    for request in [FileKeyRequest.open(key.wrapped), .rewrap(key.wrapped, .always)] {
                        let error = #expect(throws: KeychainError.self) { try other.handler.fileKey(request) }
                        #expect(
                            error?.code == .noSuchKeychain && error?.message == "the file belongs to another keychain")
                    }
                    var renamed = key.wrapped
                    renamed.storeID = try other.keybag.storeID
                    renamed.generation = try other.keybag.keyGeneration
                    let error = #expect(throws: KeychainError.self) { try other.handler.fileKey(.open(renamed)) }
                    #expect(error?.code == .decode)
                }
            }
        }
    }

    @Test("A generation that there never was is told as a key that is no more, in every state", arguments: Cell.all)
    func generations(cell: Cell) throws {
        try withKeys(cell) { keychain, keys in
            for key in keys {
                for generation in [0, key.wrapped.generation + 1, .max] as [UInt32] {
                    var changed = key.wrapped
                    changed.generation = generation
                    let error = #expect(throws: KeychainError.self) { try keychain.handler.fileKey(.open(changed)) }
                    #expect(error?.code == .noSuchKeychain && error?.message.contains("was destroyed") == true)
                }
            }
            expectKeys(keys, in: keychain.handler) {
                mayOpen($0.wrapped.fileClass, cell.state) ? nil : .interactionNotAllowed
            }
        }
    }

    @Test("A wrapped key that was changed does not open", arguments: KeychainHost.carriers)
    func tampered(host: KeychainHost) throws {
        try withKeys(Cell(host: host, state: .unlocked)) { keychain, keys in
            func refusal(_ key: FileKey, _ change: (inout WrappedFileKey) -> Void) -> KeychainError.Code? {
                var changed = key.wrapped
                change(&changed)
                return #expect(throws: KeychainError.self) { try keychain.handler.fileKey(.open(changed)) }?.code
            }
            for key in keys {
                #expect(refusal(key) { $0.wrappedKey[7] ^= 1 } == .decode)
                #expect(refusal(key) { $0.fileID = UUID() } == .decode)
                for count in [0, 39, 41] { #expect(refusal(key) { $0.wrappedKey = Data(count: count) } == .parameter) }
                guard key.wrapped.fileClass == .completeUnlessOpen else {
                    #expect(refusal(key) { $0.publicKey = Data(count: 32) } == .parameter)
                    for other in FileClass.allCases where ![key.wrapped.fileClass, .completeUnlessOpen].contains(other)
                    {
                        #expect(refusal(key) { $0.fileClass = other } == .decode)
                    }
                    continue
                }
                #expect(refusal(key) { $0.publicKey[3] ^= 1 } == .decode)
                #expect(refusal(key) { $0.publicKey = Data(count: 32) } == .decode)
                for count in [0, 31, 33] { #expect(refusal(key) { $0.publicKey = Data(count: count) } == .parameter) }
            }
        }
    }

    @Test("Programs of every group use the same keys, and those without one too", arguments: KeychainHost.carriers)
    func callers(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            let made = try keychain.handler.fileKey(.make(.complete, fileID: UUID()), as: Caller(groups: []))
            let opened = try keychain.handler.fileKey(.open(made.wrapped), as: Caller(groups: ["another"]))
            #expect(opened.key.copyData() == made.key.copyData())
        }
    }

    @Test(
        "A process whose keys another one has renewed meanwhile opens what that one has made", arguments: [true, false])
    func renewedElsewhere(usesKeyring: Bool) throws {
        try withKeychain(usesKeyring ? .embedded : .embeddedWithoutKeyring) { keychain in
            let old = try keychain.handler.makeFileKeys()
            let other = try Engine(.test(in: keychain.directory, clock: keychain.clock, usesKeyring: usesKeyring))
            try other.setPasscode("1234")
            let new = try other.makeFileKeys()
            #expect(new.allSatisfy { $0.wrapped.generation == 2 })
            expectKeys(old + new, in: keychain.handler)
            #expect(try keychain.handler.makeFileKeys().allSatisfy { $0.wrapped.generation == 2 })
        }
    }
}
