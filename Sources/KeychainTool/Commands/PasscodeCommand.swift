internal import ArgumentParser
internal import KeychainClient
internal import KeychainModel

struct PasscodeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "passcode", abstract: "Set, change or remove the passcode that locks the keychain.",
        discussion: """
            Passcodes come from standard input, one a line, or from prompts; never from arguments. A passcode that \
            is forgotten cannot be recovered, and with it everything is lost but what is accessible "always".
            """,
        subcommands: [
            SetPasscodeCommand.self, ChangePasscodeCommand.self, RemovePasscodeCommand.self, PasscodePolicyCommand.self,
        ])
}

struct SetPasscodeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Set the first passcode, twice the same on standard input.",
        discussion: """
            All keys are made anew, which takes longer the more items there are. If that is interrupted, the \
            passcode is set, and the next 'keychainctl unlock' does the rest.
            """)

    @OptionGroup var store: StoreOptions
    @Flag(help: "Print the state of the lock as a JSON object; docs/cli.md lists the keys.") var json = false

    func run() throws {
        try KeychainSession.requireNoPasscode(store)
        let passcode = try PasscodeInput.readNew()
        let status = try RenewalObserver.during { report in
            let connection = try KeychainSession(store).connection
            try connection.perform(.set(passcode), report: report)
            return try connection.lockStatus()
        }
        if json { try status.writeJSON() }
        passcode.noteIfShort("passcode")
        status.noteIfUnwatched()
        if status.keyPlace == .process {
            Console.note(
                "the passcode is set, but the kernel's keyring takes no keys here, or no more of this user's (see "
                    + "/proc/key-users): every program has to unlock for itself")
        }
        try status.requireWholeRenewal()
    }
}

extension LockStatus {
    /// - Throws: exit status 1, with a line that says why, if items could not be brought under the new keys.
    fileprivate func requireWholeRenewal() throws {
        guard isRekeying else { return }
        noteUnfinishedRenewal()
        throw ExitCode(1)
    }

    func noteUnfinishedRenewal() {
        Console.note(
            "the keychain is damaged, and the former keys are kept for what does not open: 'keychainctl doctor' says more"
        )
    }
}

struct ChangePasscodeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "change", abstract: "Change the passcode: the old one, and twice the new one.",
        discussion: """
            Without --rekey the keys stay the same, so the old passcode, the device key and an old copy of the store \
            open what is stored from now on too.
            """)

    @OptionGroup var store: StoreOptions
    @Flag(help: "Make all keys anew as well, which takes longer the more items there are.") var rekey = false
    @Flag(help: "Print the state of the lock as a JSON object; docs/cli.md lists the keys.") var json = false

    func run() throws {
        try KeychainSession.requirePasscode(store)
        let (old, new) = try PasscodeInput.readOldAndNew { old in
            let proof = AuthenticationProof(passcode: old)
            _ = try KeychainSession(store).connection.ask(.verify(proof))
        }
        let session = try RenewalObserver.during { report in
            let (session, _) = try KeychainSession.withPasscode(store)
            try session.connection.perform(.change(old: old, new: new, rekey: rekey), report: report)
            return session
        }
        if json { try session.connection.lockStatus().writeJSON() }
        new.noteIfShort("passcode")
        if rekey { try session.connection.lockStatus().requireWholeRenewal() }
    }
}

struct RemovePasscodeCommand: ParsableCommand {
    private static let consequence =
        "all items of accessibility when-passcode-set, and all that require the passcode, are destroyed"

    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove the passcode: the keychain is never locked any more.",
        discussion: "\(consequence.prefix(1).uppercased() + consequence.dropFirst()).")

    @OptionGroup var store: StoreOptions
    @Flag(help: "Do not ask whether to go on; needed where nobody can be asked.") var yes = false
    @Flag(help: "Print the state of the lock as a JSON object; docs/cli.md lists the keys.") var json = false

    func validate() throws {
        if !yes && !Confirmation.isPossible {
            throw ValidationError("When the passcode is removed, \(Self.consequence): go on with --yes.")
        }
    }

    func run() throws {
        try KeychainSession.requirePasscode(store)
        if !yes {
            try Confirmation.require(
                "when the passcode is removed, \(Self.consequence)", else: "the passcode is still set")
        }
        let passcode = try PasscodeInput.readPresent()
        let (session, _) = try KeychainSession.withPasscode(store)
        try session.connection.perform(.remove(old: passcode)) { _ in }
        let status = try session.connection.lockStatus()
        if json { try status.writeJSON() }
        try status.requireWholeRenewal()
    }
}

struct PasscodePolicyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy", abstract: "Show or set what follows from disuse and from wrong passcodes.",
        discussion: "Without --idle-lock, --after-lock and --erase-after-ten it shows the present policy and needs no "
            + "passcode.")

    @OptionGroup var store: StoreOptions
    @Option(help: ArgumentHelp("Lock after this time without use: 90s, 10m, 2h, 1d or never.", valueName: "time"))
    var idleLock: IdleLimit?
    @Option(
        help: ArgumentHelp(
            "Keep files of the class complete-when-user-inactive open for this time after a lock: 0s, 90s, 10m, 2h or 1d.",
            valueName: "time"))
    var afterLock: TimeAfterLock?
    @Option(
        help: ArgumentHelp(
            "Whether ten wrong passcodes in a row erase every key but those of what is always accessible.",
            valueName: "on|off"))
    var eraseAfterTen: Switch?
    @Flag(help: "Print the policy as a JSON object; docs/cli.md lists the keys.") var json = false

    func run() throws {
        let isChange = idleLock != nil || afterLock != nil || eraseAfterTen != nil
        let policy = isChange ? try change() : PasscodePolicy(try KeychainSession.withPasscode(store).1)
        if json || !isChange { try policy.write(json: json) }
    }

    /// - Returns: the policy that holds from now on.
    private func change() throws -> PasscodePolicy {
        try KeychainSession.requirePasscode(store)
        let passcode = try PasscodeInput.readPresent()
        let (session, status) = try KeychainSession.withPasscode(store)
        var policy = PasscodePolicy(status)
        if let idleLock { policy.idleLimit = idleLock.seconds }
        if let afterLock { policy.timeAfterLock = afterLock.seconds }
        if let eraseAfterTen { policy.erasesAfterTenFailures = eraseAfterTen == .on }
        try session.connection.perform(.setPolicy(policy, passcode: passcode)) { _ in }
        return policy
    }
}

extension PasscodePolicy: Report {
    static let fields: [Field<Self>] = [limit, afterLock, erasure]

    static let limit = Field<Self>(
        "idleLimit", "seconds without use after which the keychain locks itself, or null", term: "Idle limit",
        words: { policy in
            guard let limit = policy.idleLimit else { return "none: the keychain does not lock itself for lack of use" }
            return "\(DurationText.text(seconds: limit)) without use lock the keychain"
        }
    ) { $0.idleLimit }

    static let afterLock = Field<Self>(
        "timeAfterLock", "seconds for which files of the class `complete-when-user-inactive` stay open after a lock",
        term: "After a lock",
        words: { policy in
            let time = DurationText.text(seconds: policy.secondsAfterLock)
            return Words(
                "files of the class complete-when-user-inactive "
                    + (policy.secondsAfterLock == 0 ? "close at once" : "stay open for \(time)"))
        }
    ) { $0.secondsAfterLock }

    static let erasure = Field<Self>(
        "eraseAfterTen", "whether ten wrong passcodes in a row erase the keys", term: "Erasure",
        words: { policy in
            policy.erasesAfterTenFailures
                ? "ten wrong passcodes in a row erase every key but those of what is always accessible"
                : "off: wrong passcodes erase nothing, whatever their number"
        }
    ) { $0.erasesAfterTenFailures }

    init(_ status: LockStatus) {
        self.init(
            idleLimit: status.idleLimit, erasesAfterTenFailures: status.erasesAfterTenFailures,
            timeAfterLock: status.timeAfterLock)
    }
}
