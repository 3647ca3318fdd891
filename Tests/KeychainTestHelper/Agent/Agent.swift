// A second process for the tests of a store that several processes use.
//
//   agent add DIR NAME COUNT          adds items NAME-0, NAME-1, …; prints each number once it is stored
//   agent open DIR                    opens the store, making it if need be, and prints its id
//   agent passcode DIR WORK CODE      sets a passcode, changes it to itself with new keys, or removes it; prints a line
//                                     before it begins and at every step
//   agent guess DIR CODE COUNT        tries CODE-0, CODE-1, … (CODE itself if COUNT is 1); prints what became of each:
//                                     right, wrong, waiting
//   agent serve DIR                   carries out a line of standard input after the other: add NAME, get NAME,
//                                     unlock CODE, lock, state, make-file NUMBER (a key of that class), open-file KEY, hold-file KEY (keeps it until:
//                                     give-back), use-file PATH (writes, reads and closes it; prints its wrapped key),
//                                     mark NUMBER [COMMAND…] (fills the vector registers with the number,
//                                     carries out the command, and has the linker save the registers), depth COMMAND…
//                                     (how many bytes of the stack it takes); prints the status or what was asked for
//   agent as UID readkey SERIAL       as that user, ends with the errno of reading a key from the kernel
//   agent as UID putkeys COUNT        as that user, puts keys into the kernel's keyring and removes each; prints how many
//                                     bytes of the user's quota stay used
//   agent mixed DIR WORKER SEED CALLS LOCKED   does calls of every kind; prints what became of them. LOCKED is yes if
//                                     somebody locks the store now and then
//   agent stall DIR COUNT             updates every item, and stops within the transaction at the COUNT-th one
//   agent hog DIR SIZE                writes an item of that many bytes again and again; prints a line for the first
//   agent needles DIR                 reads needles, then carries out a step of their life for each line of standard
//                                     input; prints what the errors in it say
//   agent fixture DIR KIND            makes a store of that kind and its manifest (Scripts/make-fixture)
//   agent refresh DIR COUNT SECONDS   refreshes the tokens of the service "tokens" in the group G: prints each refresh token
//                                     that it shows the server, and reads the number of its answer, or nothing for a
//                                     rejection; then it signs out. Prints what went wrong after a !
//   agent fork DIR                    adds an item, forks, and prints the status that an add in the child gets

import CKeychainTestSupport
import DataProtection
import DataProtectionCore
import Dispatch
import Foundation
import KeychainClient
import KeychainCrypto
import KeychainEngine
import KeychainModel
import KeychainTestSupport
import SwiftKeychain
import Synchronization

/// What the command `hold-file` was answered.
private let heldFiles = Mutex<[FileKey]>([])

enum Agent {
    static func run(_ arguments: [String]) throws {
        if arguments.count == 4, arguments[0] == "as" {
            let user = UInt32(arguments[1]) ?? 0
            if user != 0 && (setgid(user) != 0 || setuid(user) != 0) { exit(255) }
            switch arguments[2] {
            // Ends with the errno of reading it; 0 if it could be read.
            case "readkey": exit(ckeychain_test_read_key(Int32(arguments[3]) ?? 0))
            case "putkeys": return say("\(try KeyringUse.left(byKeys: Int(arguments[3]) ?? 0))")
            default: break
            }
        }
        guard arguments.count >= 2 else { throw KeychainError(.parameter, message: "a command and a directory") }
        let directory = URL(fileURLWithPath: arguments[1])
        switch (arguments[0], arguments.count) {
        case ("stall", 3): return try stall(in: directory, at: Int(arguments[2]) ?? 1)
        case ("fixture", 3): return try StoreFixture.make(in: directory, kind: arguments[2])
        default: break
        }
        let environment = ProcessInfo.processInfo.environment
        var configuration = EngineConfiguration.test(
            in: directory, clock: environment["KEYCHAIN_TEST_STILL_CLOCK"] == nil ? SystemClock() : TestClock(),
            usesKeyring: environment["KEYCHAIN_TEST_WITHOUT_KEYRING"] == nil)
        switch environment["KEYCHAIN_TEST_SCHEMA"] {
        case "next": configuration.schema = .next
        case "waiting": configuration.schema = .nextOnNeed
        default: break
        }
        let engine = try Engine(configuration)
        switch (arguments[0], arguments.count) {
        case ("open", 2):
            guard case .status(let status) = try engine.handle(.status, from: caller) else { return }
            say(status.storeID.uuidString)
        case ("passcode", 4):
            try changePasscode(arguments[2], arguments[3], engine)
        case ("guess", 4):
            try guess(arguments[2], Int(arguments[3]) ?? 0, engine)
        case ("serve", 2):
            while let line = readLine() { say(answer(to: line.split(separator: " ").map(String.init), engine)) }
        case ("mixed", 6):
            var work = MixedWork(
                engine, worker: arguments[2], seed: UInt64(arguments[3]) ?? 0, mayBeLocked: arguments[5] == "yes")
            try report(asJSON: work.run(calls: Int(arguments[4]) ?? 0))
        case ("hog", 3):
            try hog(engine, size: Int(arguments[2]) ?? 0)
        case ("needles", 2):
            try performNeedles(engine)
        case ("refresh", 4):
            refresh(engine, count: Int(arguments[2]) ?? 0, lease: .seconds(Int(arguments[3]) ?? 0))
        case ("fork", 2):
            try fork(engine)
        case ("add", 4):
            try add(Int(arguments[3]) ?? 0, named: arguments[2], to: engine)
        default:
            throw KeychainError(.parameter, message: "unknown command \(arguments)")
        }
    }

    private static func changePasscode(_ work: String, _ passcode: String, _ engine: Engine) throws {
        let request: PasscodeRequest =
            switch work {
            case "set": .set(.of(passcode))
            case "change": .change(old: .of(passcode), new: .of(passcode), rekey: true)
            default: .remove(old: .of(passcode))
            }
        say("")
        var reply = try engine.handle(.passcode(request), from: .owner)
        while case .rekeyed(let progress) = reply, !progress.isFinished {
            say(".")
            reply = try engine.handle(.rekeyStep, from: .owner)
        }
    }

    private static func guess(_ passcode: String, _ count: Int, _ engine: Engine) throws {
        for number in 0..<count {
            let guess = count == 1 ? passcode : "\(passcode)-\(number)"
            do throws(KeychainError) {
                _ = try engine.handle(.unlock(.of(guess)), from: .owner)
                say("right")
            } catch {
                say(error.message.hasPrefix("the passcode is wrong") ? "wrong" : "waiting")
            }
        }
    }

    /// What was asked for, or the status of the failure.
    private static func answer(to words: [String], _ engine: Engine) -> String {
        do throws(KeychainError) {
            switch (words.first, words.count) {
            case ("add", 2):
                try addOne(words[1], to: engine)
                return "0"
            case ("get", 2):
                let request = Request.find(FindRequest(query(words[1]), wantsSecrets: true))
                guard case .found(let items) = try engine.handle(request, from: caller),
                    let secret = items.first?.secret
                else { return "no secret" }
                return String(decoding: secret.copyData(), as: UTF8.self)
            case ("unlock", 2):
                _ = try engine.handle(.unlock(.of(words[1])), from: .owner)
                return "0"
            case ("lock", 1):
                _ = try engine.handle(.lock(.withGrace), from: .owner)
                return "0"
            case ("update", 2):
                var changes = ItemChanges()
                changes.secret = .of("new")
                _ = try engine.handle(.update(UpdateRequest(query(words[1]), changes: changes)), from: caller)
                return "0"
            case ("delete", 2):
                _ = try engine.handle(.delete(query(words[1])), from: caller)
                return "0"
            case ("check", 1):
                guard case .checked(let findings) = try engine.handle(.check, from: .owner) else { return "?" }
                return "\(findings.filter { $0.severity != .note }.count)"
            case ("change", 3):
                let request = PasscodeRequest.change(old: .of(words[1]), new: .of(words[2]), rekey: true)
                var reply = try engine.handle(.passcode(request), from: .owner)
                while case .rekeyed(let progress) = reply, !progress.isFinished {
                    reply = try engine.handle(.rekeyStep, from: .owner)
                }
                return "0"
            case ("make-file", 2):
                guard let fileClass = UInt8(words[1]).flatMap(FileClass.init),
                    case .fileKey(let key) = try engine.handle(.fileKey(.make(fileClass, fileID: UUID())), from: caller)
                else { return "?" }
                return key.wrapped.text
            case ("open-file", 2):
                _ = try engine.handle(.fileKey(.open(try wrappedKey(words[1]))), from: caller)
                return "0"
            case ("hold-file", 2):
                guard
                    case .fileKey(let key) = try engine.handle(.fileKey(.open(try wrappedKey(words[1]))), from: caller)
                else { return "?" }
                heldFiles.withLock { $0.append(key) }
                return "0"
            case ("use-file", 2):
                return useFile(words[1], engine)
            case ("give-back", 1):
                heldFiles.withLock { $0 = [] }
                return "0"
            case ("mark", 2...):
                leaveMarks(UInt64(words[1]) ?? 0, engine) {
                    words.count > 2 ? answer(to: Array(words.dropFirst(2)), engine) : "0"
                }
                return "0"
            case ("depth", 2...):
                return "\(usedStack { answer(to: Array(words.dropFirst()), engine) })"
            case ("state", 1):
                guard case .lockStatus(let status) = try engine.handle(.lockStatus, from: .owner) else { return "?" }
                return status.state.rawValue
            default:
                return "unknown command"
            }
        } catch {
            return "\(error.code.status)"
        }
    }

    private static let caller = Caller(groups: ["G"])

    private static func query(_ account: String) -> ItemQuery {
        var query = ItemQuery(.genericPassword)
        query.attributes = [.account: .text(account)]
        return query
    }

    private static func useFile(_ path: String, _ engine: Engine) -> String {
        do {
            let files = ProtectedFiles(connection: Connection(engine: engine, caller: caller))
            let url = URL(filePath: path)
            try files.write(Data("first".utf8), to: url, protection: .complete)
            let handle = try files.open(url, for: .writing)
            try handle.write(Data(repeating: 7, count: 100_000), at: 5)
            guard try handle.read(at: 0, count: 200_000).count == 100_005 else { return "another content" }
            try handle.close()
            return try FileHeader.newest(in: try Data(contentsOf: url).prefix(4096)).claimed.key.text
        } catch {
            return "\(error)"
        }
    }

    /// Returns when the registers were saved. The thread stands still from then on, so that it writes over nothing.
    private static func leaveMarks(_ mark: UInt64, _ engine: Engine, _ body: @escaping @Sendable () -> String) {
        let isLeft = DispatchSemaphore(value: 0)
        let thread = Thread {
            // Binds what lies between here and the engine, which erases what is below it alone.
            _ = answer(to: ["state"], engine)
            ckeychain_test_mark_registers(mark)
            _ = body()
            ckeychain_test_bind_lazily()
            isLeft.signal()
            while true { pause() }
        }
        thread.stackSize = 1 << 20
        thread.start()
        isLeft.wait()
    }

    private static func usedStack(_ body: @escaping @Sendable () -> String) -> Int {
        let used = Mutex(0)
        let isDone = DispatchSemaphore(value: 0)
        let thread = Thread {
            ckeychain_test_paint_stack()
            _ = body()
            let count = ckeychain_test_used_stack()
            used.withLock { $0 = count }
            isDone.signal()
        }
        thread.stackSize = 1 << 21
        thread.start()
        isDone.wait()
        return used.withLock { $0 }
    }

    private static func wrappedKey(_ text: String) throws(KeychainError) -> WrappedFileKey {
        guard let wrapped = WrappedFileKey(text: text) else {
            throw KeychainError(.parameter, message: "no wrapped key")
        }
        return wrapped
    }

    private static func refresh(_ engine: Engine, count: Int, lease: Duration) {
        let keychain = Keychain(service: "tokens").connected(Connection(engine: engine, caller: caller))
        let store = TokenStore(keychain, lease: lease)
        let isDone = DispatchSemaphore(value: 0)
        Task {
            for _ in 0..<count {
                do {
                    let token = try await store.accessToken(validFor: .zero) { old in
                        say(old.refreshToken ?? "")
                        if let answer = readLine(), !answer.isEmpty {
                            return .init(accessToken: answer, refreshToken: answer, expires: .distantPast)
                        }
                        try await store.remove()
                        throw KeychainError(.authenticationFailed, message: "rejected by the server")
                    }
                    if token == nil { say("! no tokens") }
                } catch {
                    say("! \(error)")
                }
            }
            isDone.signal()
        }
        isDone.wait()
    }

    private static func fork(_ engine: Engine) throws {
        try add(1, named: "parent", to: engine)
        let child = ckeychain_test_fork()
        if child == 0 {
            do {
                try add(1, named: "child", to: engine)
                _exit(0)
            } catch {
                // Only a code in eight bits comes through: whether it is the one that is expected.
                _exit((error as? KeychainError)?.code == .notAvailable ? 7 : 1)
            }
        }
        var status: Int32 = 0
        waitpid(child, &status, 0)
        say("\(status >> 8)")
    }

    private static func add(_ count: Int, named name: String, to engine: Engine) throws {
        for number in 0..<count {
            try addOne("\(name)-\(number)", to: engine)
            say("\(number)")
        }
    }

    private static func addOne(_ name: String, to engine: Engine) throws(KeychainError) {
        var request = AddRequest(.genericPassword)
        request.attributes = [.account: .text(name)]
        request.secret = .of("secret of \(name)")
        _ = try engine.handle(.add(request), from: caller)
    }

    // MARK: Many at once

    /// Never comes back: whoever started this process kills it, in the midst of its transaction.
    private static func stall(in directory: URL, at count: Int) throws {
        let engine = try Engine(.test(in: directory, clock: StallingClock(at: count + 1)))
        var changes = ItemChanges()
        changes.attributes = [.label: .text("never written")]
        _ = try engine.handle(.update(UpdateRequest(ItemQuery(.genericPassword), changes: changes)), from: caller)
    }

    /// Holds the write lock nearly all the time, until this process is killed.
    private static func hog(_ engine: Engine, size: Int) throws {
        let name = "hog \(getpid())"
        try addOne(name, to: engine)
        var changes = ItemChanges()
        changes.secret = SecretBytes(copying: Data(count: size))
        var isFirst = true
        while true {
            _ = try engine.handle(.update(UpdateRequest(query(name), changes: changes)), from: caller)
            if isFirst { say("begun") }
            isFirst = false
        }
    }

    // MARK: Traces

    private static func performNeedles(_ engine: Engine) throws {
        let work = try JSONDecoder().decode(NeedleWork.self, from: Data((readLine() ?? "").utf8))
        say("")
        while let line = readLine(), let step = NeedleWork.Step(rawValue: line) {
            try report(asJSON: work.perform(step, on: engine))
        }
    }

    private static func report(asJSON value: some Encodable) throws {
        say(String(decoding: try JSONEncoder().encode(value), as: UTF8.self))
    }
}

/// Stands still for ever when it is asked for the n-th time, after it said so. A request asks it
/// once at its beginning, and an update for each item within its transaction.
private final class StallingClock: Clock {
    private let limit: Int
    private let count = Mutex(0)

    init(at limit: Int) { self.limit = limit }

    var now: Double {
        let asked = count.withLock { count in
            count += 1
            return count
        }
        if asked == limit {
            say("stalled")
            while true { Glibc.pause() }
        }
        return SystemClock().now
    }

    var sinceBoot: UInt64 { SystemClock().sinceBoot }
    var bootID: UUID { SystemClock().bootID }
}
