internal import Foundation
internal import KeychainClient
internal import KeychainModel

/// The tour of two made-up programs that share one store.
struct Demo {
    /// The values that the tour stores. They must not be on the disk in the clear.
    enum Sample {
        static let group = "com.example.notes"
        static let otherGroup = "com.example.games"
        static let service = "notes.example.com"
        static let server = "mail.example.com"
        static let account = "ada@example.com"
        static let label = "Ada's notebook"
        static let password = "correct horse battery staple"
        static let newPassword = "a better password: Tr0ub4dor&3"
        static let itemPassword = "the password of one item, 1414"
        static let pin = "the PIN of the safe is 271828"
        static let letter = "Dear Grace, the engine will weave patterns like the loom does.\n"
        static let passcode = "an unlikely passcode, 1618"
        static let all = [
            group, service, server, account, label, password, newPassword, itemPassword, pin, letter, passcode,
        ]
    }

    let directory: URL
    let narrator: DemoNarrator

    init(in directory: URL, narrator: DemoNarrator) {
        self.directory = directory
        self.narrator = narrator
    }

    var store: URL { directory.appendingPathComponent("store") }
    var deviceKey: URL { directory.appendingPathComponent("device") }

    func run() throws {
        try Console.write("A tour of the keychain on a throw-away store in \(directory.path).\n")
        try Console.write("The statuses are those of Apple's keychain, and each is the real result of a call.\n")
        try showOneApp()
        try showTwoApps()
        try showLock()
        try showDisk()
        try showAnotherProcess()
        try showTampering()
        try showDeletion()
    }

    /// Runs `body` as a program with these access groups; its engine is closed afterwards.
    func asApp<R>(_ groups: [String], _ body: (Connection) throws -> R) rethrows -> R {
        var configuration = KeychainConfiguration()
        configuration.storeDirectory = store
        configuration.deviceKeyDirectory = deviceKey
        configuration.accessGroups = groups
        return try body(Connection(configuration))
    }

    // MARK: Requests

    var notes: ItemQuery {
        var query = ItemQuery(.genericPassword)
        query.attributes = [.service: .text(Sample.service), .account: .text(Sample.account)]
        return query
    }

    func addNotes(_ app: Connection, group: String? = nil) throws(KeychainError) {
        var request = AddRequest(.genericPassword)
        request.attributes = notes.attributes
        request.attributes[.label] = .text(Sample.label)
        request.accessGroup = group
        request.secret = SecretBytes(copying: Data(Sample.password.utf8))
        _ = try app.ask(.add(request))
    }

    /// Asks for a secret, and complains if the answer is another one.
    func readSecret(_ query: ItemQuery, expecting secret: Data, as app: Connection) throws(KeychainError) {
        let items = try app.ask(.find(query, wantsSecrets: true))
        narrator.expect(items.first?.secret?.copyData() == secret, "the secret is not the one that was stored")
    }

    // MARK: Chapters

    private func showOneApp() throws {
        try narrator.chapter("A program, \"notes\", whose access group is \(Sample.group)")
        try asApp([Sample.group]) { app in
            try narrator.step("It stores a generic password.") { () throws(KeychainError) in try addNotes(app) }
            try narrator.step("It stores an internet password.") { () throws(KeychainError) in
                var request = AddRequest(.internetPassword)
                request.attributes = [
                    .server: .text(Sample.server), .account: .text(Sample.account),
                    .internetProtocol: .text(InternetProtocol.imaps.rawValue),
                ]
                request.secret = SecretBytes(copying: Data(Sample.password.utf8))
                _ = try app.ask(.add(request))
            }
            try narrator.step("It finds the password again, and it is the same.") { () throws(KeychainError) in
                try readSecret(notes, expecting: Data(Sample.password.utf8), as: app)
            }
            try narrator.step("It stores the same account a second time.", expecting: .duplicateItem) {
                () throws(KeychainError) in try addNotes(app)
            }
            try narrator.step("So it replaces the secret, and reads the new one.") { () throws(KeychainError) in
                var changes = ItemChanges()
                changes.secret = SecretBytes(copying: Data(Sample.newPassword.utf8))
                try app.ask(.update(UpdateRequest(notes, changes: changes)))
                try readSecret(notes, expecting: Data(Sample.newPassword.utf8), as: app)
            }
            try showAccessControl(app)
        }
    }

    private func showAccessControl(_ app: Connection) throws {
        var request = AddRequest(.genericPassword)
        request.attributes = [.service: .text(Sample.service), .account: .text("safe")]
        request.secret = SecretBytes(copying: Data(Sample.pin.utf8))
        try narrator.step("It stores an item that opens only together with a password of its own.") {
            () throws(KeychainError) in
            request.accessControl = try AccessControl(.whenUnlocked, flags: .applicationPassword)
            _ = try app.ask(.add(request), Asking(in: Self.session(Sample.itemPassword)))
        }
        var query = ItemQuery(.genericPassword)
        query.attributes = request.attributes
        query.authenticationUI = .fail
        let find = Question.find(query, wantsSecrets: true)
        try narrator.step(
            "Without it, and with nobody to be asked, reading is refused.", expecting: .interactionNotAllowed
        ) {
            () throws(KeychainError) in _ = try app.ask(find)
        }
        try narrator.step(
            "With another one it does not open; that counts like a wrong passcode.", expecting: .authenticationFailed
        ) { () throws(KeychainError) in
            _ = try app.ask(find, Asking(in: Self.session("wrong"), mayAsk: false))
        }
        try narrator.step("With the right one it does.") { () throws(KeychainError) in
            let items = try app.ask(find, Asking(in: Self.session(Sample.itemPassword), mayAsk: false))
            guard items.first?.secret?.copyData() == Data(Sample.pin.utf8) else {
                throw .unexpectedReply
            }
        }
    }

    /// The session of a program that knows a password.
    private static func session(_ password: String) -> AuthenticationSession {
        let session = AuthenticationSession()
        session.setApplicationPassword(SecretBytes(copying: Data(password.utf8)))
        return session
    }

    private func showTwoApps() throws {
        try narrator.chapter("Another program, \"games\", whose access group is \(Sample.otherGroup)")
        try asApp([Sample.otherGroup]) { app in
            try narrator.step("It looks for the password of \"notes\".", expecting: .itemNotFound) {
                () throws(KeychainError) in
                _ = try app.ask(.find(notes, wantsSecrets: true))
            }
            try narrator.step("It names that program's group.", expecting: .missingEntitlement) {
                () throws(KeychainError) in try addNotes(app, group: Sample.group)
            }
            try narrator.step("In its own group it may use the same names.") { () throws(KeychainError) in
                try addNotes(app)
            }
        }
        try narrator.remark(
            "On this host groups keep honest programs apart; they are no wall ('keychainctl status --verbose').")
    }

    private func showDeletion() throws {
        try narrator.chapter("The end")
        try asApp([Sample.group, Sample.otherGroup]) { app in
            try narrator.step("Everything is deleted; the item with a password of its own needs none for that.") {
                () throws(KeychainError) in
                _ = try app.ask(.delete(ItemQuery(.genericPassword)))
                _ = try app.ask(.delete(ItemQuery(.internetPassword)))
            }
            try narrator.step("The password is looked for once more.", expecting: .itemNotFound) {
                () throws(KeychainError) in
                _ = try app.ask(.find(notes, wantsSecrets: true))
            }
        }
    }
}
