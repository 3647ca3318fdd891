package import Foundation
internal import Glibc
public import KeychainModel
public import SwiftKeychain

/// A keychain of its own for one test: empty, in memory, with a clock, a lock and a person that the test has in its hand.
///
/// ```swift
/// @Test func signsIn() throws {
///     let test = try TestKeychain()
///     let session = Session(keychain: test.keychain(service: "com.example.app"))
///     try session.signIn("alice", "s3cret")
///     #expect(try session.keychain.contains("token"))
/// }
/// ```
///
/// It is the real engine, on a directory that is in memory where the machine has one (`/dev/shm`), and is gone with this
/// object and the values that it has made. Tests may run side by side: none sees another one's items, nor those of the user.
/// Its ``keychain(service:accessGroup:accessibility:)`` leads to it from every thread and every task.
///
/// Passcodes take no time to check, and nothing is forced to a disk.
public final class TestKeychain: Sendable {
    /// Who is asked.
    public let person: TestPerson
    /// The time that the keychain goes by.
    public let clock = TestTime()
    private let directory: TestDirectory
    private let engine: any RequestHandler
    let connection: Connection

    /// - Parameters:
    ///   - accessGroups: Those of the program under test, as its entitlements would name them.
    ///   - passcode: nil: none is set, and nothing is ever locked.
    /// - Throws: `KeychainError.Code.inputOutput` if no directory can be made.
    public init(accessGroups: [String] = ["test"], passcode: String? = nil) throws(KeychainError) {
        directory = try TestDirectory()
        person = TestPerson()
        let location = StoreLocation(
            storeDirectory: directory.url.appendingPathComponent("store"),
            deviceKeyDirectory: directory.url.appendingPathComponent("device"), deviceKeyCredential: nil)
        engine = try Embedded.host.openForTest(location, clock: clock, biometry: ProvidedReader(person.hand))
        connection = Connection(
            engine: engine, caller: Caller(groups: accessGroups), prompter: person.mouth, place: directory)
        if let passcode { try lock.setPasscode(Data(passcode.utf8)) }
    }

    /// The directory of the store.
    package var place: URL { directory.url }

    /// The generic passwords of a service, in this keychain.
    public func keychain(
        service: String, accessGroup: String? = nil, accessibility: Keychain.Accessibility? = nil
    ) -> Keychain {
        use(Keychain(service: service, accessGroup: accessGroup, accessibility: accessibility))
    }

    /// The same items as `keychain` means, in this keychain.
    public func use(_ keychain: Keychain) -> Keychain { keychain.connected(connection) }

    /// Items of all classes, in this keychain.
    public var items: KeychainItems { KeychainItems(like: keychain(service: "")) }

    /// This keychain as another program sees it.
    ///
    /// - Parameters:
    ///   - accessGroups: Those of that program.
    ///   - keychain: Which items are meant.
    public func asProgram(accessGroups: [String], _ keychain: Keychain) -> Keychain {
        keychain.connected(
            Connection(
                engine: engine, caller: Caller(groups: accessGroups), prompter: person.mouth, place: directory))
    }

    /// The lock of this keychain. A passcode has to be set before it can be locked.
    public var lock: KeychainLock { KeychainLock(connection) }

    /// What a restart of the system does: it is locked, and has not been unlocked since.
    public func restartSystem() {
        Embedded.host.forgetKeys(of: engine)
        clock.restart()
    }
}

/// Runs `body` with a keychain of its own, which is also what `SecItem…`, `LAContext`, `KeychainLock()` and every `Keychain`
/// find that were not made for another one: in `body` and the tasks that it makes. A thread, a queue or a detached task that
/// it starts does not find it that way; give it ``TestKeychain/use(_:)``'s.
///
/// - Parameters:
///   - accessGroups: Those of the program under test.
///   - passcode: nil: none is set, and nothing is ever locked.
///   - body: What is tested.
public func withTestKeychain<R>(
    accessGroups: [String] = ["test"], passcode: String? = nil, _ body: (TestKeychain) throws -> R
) throws -> R {
    let test = try TestKeychain(accessGroups: accessGroups, passcode: passcode)
    return try Connection.$override.withValue(test.connection) { try body(test) }
}

/// The same for tasks.
public func withTestKeychain<R>(
    accessGroups: [String] = ["test"], passcode: String? = nil, isolation: isolated (any Actor)? = #isolation,
    _ body: (TestKeychain) async throws -> R
) async throws -> R {
    let test = try TestKeychain(accessGroups: accessGroups, passcode: passcode)
    return try await Connection.$override.withValue(test.connection, operation: { try await body(test) })
}

/// A directory that is gone with this object, and, if the process was killed, with the next one that makes such.
private final class TestDirectory: Sendable {
    private static let prefix = "swift-keychain-test-"

    private static let parent: URL = {
        let memory = URL(fileURLWithPath: "/dev/shm", isDirectory: true)
        let place = access(memory.path, W_OK) == 0 ? memory : FileManager.default.temporaryDirectory
        sweep(place)
        return place
    }()

    let url: URL

    init() throws(KeychainError) {
        let parent = Self.parent
        url = parent.appendingPathComponent("\(Self.prefix)\(getpid())-\(UUID().uuidString)", isDirectory: true)
        do {
            try FileManager.default.createDirectory(
                at: url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        } catch {
            throw KeychainError(
                .inputOutput, message: "there is no place for a test's keychain in \(parent.path)", cause: error)
        }
    }

    deinit { Self.remove(url) }

    /// A connection that is just being closed may remove files too, so it is tried again. What stays, the next process removes.
    private static func remove(_ directory: URL) {
        for _ in 0..<10 {
            do { return try FileManager.default.removeItem(at: directory) } catch { continue }
        }
    }

    /// Removes what processes have left that are no more.
    private static func sweep(_ place: URL) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: place.path)) ?? []
        for name in names where name.hasPrefix(prefix) {
            guard let process = name.dropFirst(prefix.count).split(separator: "-").first.flatMap({ pid_t($0) }),
                process > 0, kill(process, 0) != 0, errno == ESRCH
            else { continue }
            remove(place.appendingPathComponent(name))
        }
    }
}
