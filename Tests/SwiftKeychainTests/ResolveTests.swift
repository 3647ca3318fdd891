import Foundation
import KeychainClient
import KeychainModel
import KeychainTestSupport
import KeychainWire
import Synchronization
import Testing

/// One request for all that a name can mean.
@Suite struct ResolveTests {
    @Test("The first level with a match decides, and what asks a person is told apart", arguments: Replier.Age.allCases)
    func levels(age: Replier.Age) throws {
        try withKeychain(.daemon) { keychain in
            try keychain.add("mail", label: "web")
            try keychain.add("web", label: "web")
            try keychain.add("safe", label: "safe", flags: .applicationPassword)
            let (connection, replier) = Self.connection(keychain, age)
            let byService = try connection.resolve(Self.request("web"))
            #expect(byService.matches.map(\.query) == [0] && byService.asking.isEmpty)
            #expect(byService.matches.first?.item.attributes[.service] == .text("web"))
            #expect(byService.matches.first?.item.secret == nil)
            #expect(replier.count == 1)
            let byLabel = try connection.resolve(
                ResolveRequest([[Self.query(.service, "x")], [Self.query(.label, "web")]]))
            #expect(byLabel.matches.map(\.query) == [1, 1])
            #expect(replier.count == (age == .knowsIt ? 1 : 2))
            let asking = try connection.resolve(Self.request("safe"))
            #expect(asking.matches.isEmpty && asking.asking == [0])
            #expect(Self.code { _ = try connection.resolve(Self.request("nothing")) } == .itemNotFound)
        }
    }

    @Test("Before the first unlock what is always accessible is found if it will do", arguments: Replier.Age.allCases)
    func reachable(age: Replier.Age) throws {
        try withKeychain(.daemon) { keychain in
            try keychain.add("web", label: "web", .always)
            try keychain.add("bank", label: "bank")
            try keychain.setPasscode("1")
            keychain.restart()
            let (connection, _) = Self.connection(keychain, age)
            #expect(try connection.resolve(Self.request("web", amongReachable: true)).matches.count == 1)
            for request in [Self.request("web"), Self.request("bank", amongReachable: true)] {
                #expect(Self.code { _ = try connection.resolve(request) } == .interactionNotAllowed)
            }
        }
    }

    @Test("More matches than go into one answer are found one by one")
    func many() throws {
        try withKeychain(.daemon) { keychain in
            let long = String(repeating: "a", count: 64 << 10)
            for number in 0..<6 { try keychain.add("web", label: "\(number)\(long)") }
            let (connection, replier) = Self.connection(keychain, .knowsIt)
            #expect(try connection.resolve(Self.request("web")).matches.count == 6)
            #expect(replier.count == 2)
        }
    }

    @Test(
        "The command asks a daemon twice for the secret of a name, and an older one for each of its meanings",
        arguments: Replier.Age.allCases)
    func command(age: Replier.Age) throws {
        let count = Mutex(0)
        let item = StrangeAnswerTests.item(.of("secret"))
        try withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("s").path
            let daemon = try FakeDaemon(at: path) { peer, _ in
                guard try peer.welcome() else { return }
                while case .request(let id, let request) = try peer.receive() {
                    count.withLock { $0 += 1 }
                    peer.send(Self.answer(to: request, id, item, age))
                }
            }
            defer { daemon.stop() }
            let (process, output) = (Process(), Pipe())
            process.executableURL = BuiltProducts.url(of: "keychainctl")
            process.arguments = ["get", "web"]
            process.environment = ["HOME": directory.path, "KEYCHAIN_HOST": "unix:\(path)", "PATH": "/usr/bin:/bin"]
            process.standardOutput = output
            try process.run()
            #expect(try output.fileHandleForReading.readToEnd() == Data("secret".utf8))
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
        }
        #expect(age == .knowsIt ? count.withLock { $0 } == 2 : count.withLock { $0 } > 4)
    }

    /// Of a daemon that has one generic password.
    private static func answer(
        to request: Request, _ id: UInt64, _ item: Item, _ age: Replier.Age
    ) -> DaemonMessage {
        switch request {
        case .resolve(let names) where age == .knowsIt:
            var resolution = Resolution()
            let number = names.queries.firstIndex { $0.itemClass == .genericPassword } ?? 15
            resolution.matches = [Resolution.Match(item, query: number)]
            return .reply(id: id, .resolved(resolution), isLast: true)
        case .resolve: return .failure(id: id, KeychainError(.unimplemented, message: "not known"))
        case .find(let find) where find.query.itemClass == .genericPassword:
            return .reply(id: id, .found([item]), isLast: true)
        default: return .failure(id: id, KeychainError(.itemNotFound, message: "none"))
        }
    }

    private static func query(_ attribute: Attribute, _ text: String) -> ItemQuery {
        var query = ItemQuery(.genericPassword)
        query.attributes[attribute] = .text(text)
        query.limit = .all
        return query
    }

    private static func request(_ name: String, amongReachable: Bool = false) -> ResolveRequest {
        ResolveRequest([[query(.service, name)], [query(.label, name)]], amongReachable: amongReachable)
    }

    private static func connection(_ keychain: TestKeychain, _ age: Replier.Age) -> (Connection, Replier) {
        let replier = Replier(keychain.handler, age)
        return (Connection(engine: replier, caller: .owner), replier)
    }

    private static func code(_ body: () throws -> Void) -> KeychainError.Code? {
        do { try body() } catch { return (error as? KeychainError)?.code }
        return nil
    }

}

/// Passes requests on, and counts them.
final class Replier: RequestHandler {
    /// Whether the other end knows the request.
    enum Age: CaseIterable { case knowsIt, isOlder }

    private let handler: any RequestHandler
    private let age: Age
    private let requests = Mutex(0)

    init(_ handler: any RequestHandler, _ age: Age) { (self.handler, self.age) = (handler, age) }

    /// Since the last look.
    var count: Int {
        requests.withLock { count in
            defer { count = 0 }
            return count
        }
    }

    func handle(_ request: Request, from caller: Caller) throws(KeychainError) -> Reply {
        if case .resolve = request, age == .isOlder {
            throw KeychainError(.unimplemented, message: "the daemon does not know this request")
        }
        requests.withLock { $0 += 1 }
        return try handler.handle(request, from: caller)
    }

    func waitForLockChange(since epoch: UInt64, timeout: Duration) throws(KeychainError) -> UInt64 { epoch }
    func listenForLocks() throws(KeychainError) -> any LockListener { try handler.listenForLocks() }
    func verifyBiometry(
        for _: Caller, _: Cancellation, hint _: (BiometryHint) -> Void
    ) throws(BiometryFailure) -> BiometryTicket { throw .notAvailable("no reader") }
    func prepareForExit() {}
}

extension TestKeychain {
    fileprivate func add(
        _ service: String, label: String, flags: AccessControl.Flags = [], _ protection: Protection = .whenUnlocked
    ) throws {
        var request = AddRequest(.genericPassword)
        request.attributes = [.service: .text(service), .account: .text(label), .label: .text(label)]
        request.secret = .of("secret")
        request.accessControl = try AccessControl(protection, flags: flags)
        var asked = Request.add(request)
        if !flags.isEmpty {
            asked = .authenticated(AuthenticationProof(applicationPassword: .of("password")), asked)
        }
        _ = try handler.handle(asked, from: .owner)
    }
}
