internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainModel
internal import KeychainTransfer

struct TOTPCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "totp", abstract: "Make the one-time code of an item that is right now (RFC 6238).",
        discussion: """
            The key is the one that 'keychainctl add NAME --totp' has stored, or a line 'otpauth://totp/…' of the secret \
            of the item that is named. On a terminal a line feed follows the code.

            Examples:
              keychainctl add mail.example --account ada --totp
              keychainctl totp mail.example
              keychainctl totp mail.example --clip
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var filter: ItemFilter
    @OptionGroup var authentication: AuthenticationOptions
    @OptionGroup var clip: ClipOptions
    @Flag(help: "Print a JSON object; docs/cli.md lists the keys.") var json = false

    func validate() throws { _ = try filter.requireItem() }

    func run() throws {
        let consent = authentication.asking(reason: "make a one-time code" + filter.inWords(after: ": "))
        let session = try KeychainSession.existing(store, consent)
        let item = try filter.naming { try session.item(of: try filter.levels(first: OneTimeItem.prefix)) }
        let (key, seconds) = (try OneTimeItem.key(of: item), UInt64(Date().timeIntervalSince1970))
        let (code, left) = (key.code(at: seconds), key.secondsLeft(at: seconds))
        if clip.isChosen { return try clip.put(SecretBytes(copying: Data(code.utf8))) }
        if json {
            return try JSONValue.object([
                ("code", code.json), ("secondsLeft", left.json), ("period", key.period.json),
            ]).writeJSON()
        }
        try Console.write(Console.outputIsTerminal ? code + "\n" : code)
        if Console.outputIsTerminal { Console.note("note: right for another \(counted(Int(left), "second"))") }
    }
}
