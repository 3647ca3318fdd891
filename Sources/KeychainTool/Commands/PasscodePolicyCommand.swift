internal import ArgumentParser
internal import KeychainClient
internal import KeychainModel

struct PasscodePolicyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy", abstract: "Show or set what follows from disuse and from wrong passcodes.",
        discussion: "Without --idle-lock and --erase-after-ten it shows the present policy and needs no passcode.")

    @OptionGroup var store: StoreOptions
    @Option(help: ArgumentHelp("Lock after this time without use: 90s, 10m, 2h, 1d or never.", valueName: "time"))
    var idleLock: IdleLimit?
    @Option(
        help: ArgumentHelp(
            "Whether ten wrong passcodes in a row erase every key but those of what is always accessible.",
            valueName: "on|off"))
    var eraseAfterTen: Switch?
    @Flag(help: "Print the policy as a JSON object; docs/cli.md lists the keys.") var json = false

    func run() throws {
        let isChange = idleLock != nil || eraseAfterTen != nil
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
        if let eraseAfterTen { policy.erasesAfterTenFailures = eraseAfterTen == .on }
        try session.connection.perform(.setPolicy(policy, passcode: passcode)) { _ in }
        return policy
    }
}

extension PasscodePolicy: Report {
    static let fields: [Field<Self>] = [limit, erasure]

    static let limit = Field<Self>(
        "idleLimit", "seconds without use after which the keychain locks itself, or null", term: "Idle limit",
        words: { policy in
            guard let limit = policy.idleLimit else { return "none: the keychain does not lock itself for lack of use" }
            return "\(DurationText.text(seconds: limit)) without use lock the keychain"
        }
    ) { $0.idleLimit }

    static let erasure = Field<Self>(
        "eraseAfterTen", "whether ten wrong passcodes in a row erase the keys", term: "Erasure",
        words: { policy in
            policy.erasesAfterTenFailures
                ? "ten wrong passcodes in a row erase every key but those of what is always accessible"
                : "off: wrong passcodes erase nothing, whatever their number"
        }
    ) { $0.erasesAfterTenFailures }

    init(_ status: LockStatus) {
        self.init(idleLimit: status.idleLimit, erasesAfterTenFailures: status.erasesAfterTenFailures)
    }
}
