package import Foundation
internal import Glibc
public import KeychainModel
internal import KeychainSystem
public import SwiftKeychain

/// A keychain for one test: empty, in memory, with a clock, a lock and a person that the test controls.
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
/// It is the real engine, with the statuses, the lock and the access groups of the real keychain. Two things differ: a
/// passcode takes no time to check, and no file is forced to a disk, so a test shows nothing about a power cut.
///
/// The engine's directory is in memory where the machine has `/dev/shm`. It is removed when this object and all values
/// that it has made are gone. Tests may run side by side: none sees the items of another one, or those of the user. The
/// kernel's keyring is not used.
///
/// The object and its values may be used from every thread and every task.
public final class TestKeychain: Sendable {
    /// The person whom the keychain asks.
    public let person: TestPerson
    /// The clock of the keychain, which sets dates of items and ends idle limits.
    public let clock = TestTime()
    private let directory: TestDirectory
    private let engine: any RequestHandler
    let connection: Connection

    /// Makes a keychain without items.
    ///
    /// - Parameters:
    ///   - accessGroups: The groups of the program under test, as its entitlements would name them. New items go to the
    ///     first one.
    ///   - passcode: The passcode. `nil` sets none, and the keychain is never locked then.
    /// - Throws: `KeychainError.Code.inputOutput` if no directory can be made; the errors of `KeychainLock.setPasscode`
    ///   for a passcode that is empty or too long.
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

    /// The directory of the keychain's files.
    package var place: URL { directory.url }

    /// Removes what test keychains of killed processes have left in a directory.
    package static func removeLeftovers(in place: URL) { TestDirectory.sweep(place) }

    /// The generic passwords of a service in this keychain.
    ///
    /// - Parameters:
    ///   - service: Any text.
    ///   - accessGroup: The access group. `nil` means the first group of the program under test.
    ///   - accessibility: The time at which new items can be used. `nil` means "when unlocked".
    /// - Returns: A value for the code under test, which finds this keychain from every thread and every task.
    public func keychain(
        service: String, accessGroup: String? = nil, accessibility: Keychain.Accessibility? = nil
    ) -> Keychain {
        use(Keychain(service: service, accessGroup: accessGroup, accessibility: accessibility))
    }

    /// A copy of a value, for this keychain.
    ///
    /// ```swift
    /// let session = Session(keychain: test.use(Session.defaultKeychain))
    /// ```
    ///
    /// - Parameter keychain: A value of the code under test. Its service, group, prefix and protection stay.
    public func use(_ keychain: Keychain) -> Keychain { keychain.connected(connection) }

    /// The items of all classes, in this keychain. It sees all groups of the program under test.
    public var items: KeychainItems { KeychainItems(like: keychain(service: "")) }

    /// A copy of a value for another program that uses this keychain.
    ///
    /// ```swift
    /// let other = test.asProgram(accessGroups: ["other", "shared"], Keychain(service: "s", accessGroup: "shared"))
    /// #expect(try other.string(for: "k") == "x")
    /// ```
    ///
    /// - Parameters:
    ///   - accessGroups: The groups of the other program. A group that it does not hold is `.missingEntitlement`, as in
    ///     the real keychain.
    ///   - keychain: The value whose service, prefix and protection are taken.
    public func asProgram(accessGroups: [String], _ keychain: Keychain) -> Keychain {
        keychain.connected(
            Connection(
                engine: engine, caller: Caller(groups: accessGroups), prompter: person.mouth, place: directory))
    }

    /// The lock of this keychain. Locking it without a passcode throws `KeychainError.Code.noPasscode`.
    ///
    /// ```swift
    /// let test = try TestKeychain(passcode: "1234")
    /// try test.lock.lock()
    /// #expect(throws: KeychainError.self) { try test.keychain(service: "s").string(for: "k") }
    /// try test.lock.unlock(passcode: Data("1234".utf8))
    /// ```
    public var lock: KeychainLock { KeychainLock(connection) }

    /// Does what a restart of the system does: the keychain is locked, and was not unlocked since the start.
    ///
    /// Items that are accessible "after first unlock" cannot be used before the next unlock. The time of day goes on.
    /// Without a passcode the keychain stays unlocked.
    public func restartSystem() {
        Embedded.host.forgetKeys(of: engine)
        clock.restart()
    }
}

/// Runs `body` with a new keychain, which code inside it finds without being given it.
///
/// ```swift
/// try withTestKeychain(passcode: "1234") { test in
///     try signIn()  // calls SecItemAdd, or Keychain(service:)
///     try test.lock.lock()
///     #expect(throws: (any Error).self) { try readToken() }
/// }
/// ```
///
/// `SecItem…`, `LAContext`, `KeychainLock()` and every `Keychain` that was not made for another keychain use it, in
/// `body` and in the tasks that `body` makes. A thread, a queue or a detached task that `body` starts does not find it:
/// it uses the user's own keychain, unless it is given a value of ``TestKeychain/use(_:)``.
///
/// - Parameters:
///   - accessGroups: The groups of the program under test.
///   - passcode: The passcode. `nil` sets none, and the keychain is never locked then.
///   - body: The test.
/// - Returns: The result of `body`. The keychain is removed.
/// - Throws: An error of `body`, or `KeychainError.Code.inputOutput` if no directory can be made.
public func withTestKeychain<R>(
    accessGroups: [String] = ["test"], passcode: String? = nil, _ body: (TestKeychain) throws -> R
) throws -> R {
    let test = try TestKeychain(accessGroups: accessGroups, passcode: passcode)
    return try Connection.$override.withValue(test.connection) { try body(test) }
}

/// Runs an asynchronous `body` with a new keychain, which code inside it finds without being given it.
///
/// Tasks that `body` makes find the keychain too. A thread, a queue or a detached task does not.
///
/// - Parameters:
///   - accessGroups: The groups of the program under test.
///   - passcode: The passcode. `nil` sets none, and the keychain is never locked then.
///   - isolation: The actor that `body` runs on, by default that of the caller.
///   - body: The test.
/// - Returns: The result of `body`. The keychain is removed.
/// - Throws: An error of `body`, or `KeychainError.Code.inputOutput` if no directory can be made.
public func withTestKeychain<R>(
    accessGroups: [String] = ["test"], passcode: String? = nil, isolation: isolated (any Actor)? = #isolation,
    _ body: (TestKeychain) async throws -> R
) async throws -> R {
    let test = try TestKeychain(accessGroups: accessGroups, passcode: passcode)
    return try await Connection.$override.withValue(test.connection, operation: { try await body(test) })
}

/// A directory that is removed with this object. If the process is killed, a later process that makes such a directory
/// removes it.
///
/// It is locked for as long as it is in use: what tells processes apart in one container says nothing in another one that has
/// the same `/dev/shm`.
private final class TestDirectory: Sendable {
    private static let prefix = "swift-keychain-test-"

    private static let parent: URL = {
        let memory = URL(fileURLWithPath: "/dev/shm", isDirectory: true)
        let place = FilePath.permits(memory.path, W_OK) ? memory : FileManager.default.temporaryDirectory
        sweep(place)
        return place
    }()

    let url: URL
    private let lock: Int32

    init() throws(KeychainError) {
        let parent = Self.parent
        while true {
            let url = parent.appendingPathComponent("\(Self.prefix)\(getpid())-\(UUID().uuidString)", isDirectory: true)
            guard mkdir(url.path, 0o700) == 0 else { throw Self.noPlace(parent, errno) }
            // Another process may have taken it for a leftover before it was locked.
            guard let lock = Self.lock(url) else { continue }
            (self.url, self.lock) = (url, lock)
            return
        }
    }

    private static func noPlace(_ parent: URL, _ failure: Int32) -> KeychainError {
        KeychainError(
            .inputOutput,
            message: "there is no place for a test's keychain in \(parent.path): \(String(cString: strerror(failure)))")
    }

    deinit {
        Self.remove(url)
        close(lock)
    }

    /// Removes a directory.
    ///
    /// It tries several times, since a connection that is just being closed may remove files too. The next process
    /// removes the rest.
    private static func remove(_ directory: URL) {
        for _ in 0..<10 {
            do { return try FileManager.default.removeItem(at: directory) } catch { continue }
        }
    }

    /// Removes the directories that no process has locked any more.
    static func sweep(_ place: URL) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: place.path)) ?? []
        for name in names where name.hasPrefix(prefix) {
            let directory = place.appendingPathComponent(name, isDirectory: true)
            guard let lock = lock(directory) else { continue }
            remove(directory)
            close(lock)
        }
    }

    /// Locks a directory of this user's own, which no other user can reach into.
    ///
    /// - Returns: nil for any other directory, and for one that is gone or in use.
    private static func lock(_ directory: URL) -> Int32? {
        let file = open(directory.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { return nil }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_uid == geteuid(), status.st_mode & 0o777 == 0o700,
            flock(file, LOCK_EX | LOCK_NB) == 0, FileNumber(directory.path) == FileNumber(status)
        else {
            close(file)
            return nil
        }
        return file
    }
}
