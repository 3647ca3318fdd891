internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainClient
internal import KeychainModel
internal import KeychainRun
internal import KeychainSystem

struct EditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Change a secret with an editor, in memory.",
        discussion: """
            The editor is $VISUAL, $EDITOR or vi. It opens a file in memory, so nothing reaches a disk but what the \
            editor itself writes elsewhere: vim, nano, emacs, micro and mg are told to write no swap file, backup or \
            history. For another editor, which may do so, add --any-editor. An editor has to stay in the foreground \
            ('code --wait'). If the secret had no line feed at its end, the one that editors add is left out.
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var filter: ItemFilter
    @Flag(help: "Take an editor that may write the secret elsewhere, too.") var anyEditor = false
    @Flag(help: "Take an empty secret, too.") var allowEmpty = false
    @OptionGroup var authentication: AuthenticationOptions
    @OptionGroup var errors: JSONErrors

    func validate() throws {
        guard let itemClass = try filter.requireItem() else { return }
        try check(itemClass)
    }

    private func check(_ itemClass: ItemClass) throws {
        guard itemClass == .genericPassword || itemClass == .internetPassword else {
            throw ValidationError("A \(itemClass.title) is no text that could be edited.")
        }
    }

    func run() throws {
        let editor = Editor(ProcessInfo.processInfo.environment)
        guard editor.isDiscreet || anyEditor else {
            throw ToolFailure(
                message:
                    "the editor \(editor.name) may write the secret into files of its own; --any-editor takes it all "
                    + "the same, EDITOR names another one")
        }
        let consent = authentication.asking(reason: "edit a secret" + filter.inWords(after: ": "))
        let item = try open(consent)
        let before = try item.requireSecret()
        let file = try MemoryFile(before, for: .writing)
        defer { file.release() }
        try editor.edit(file.path)
        let after = before.endsLine ? try file.read() : try file.read().withoutLineEnd
        if before.hasSameBytes(as: after) { return Console.note("nothing was changed") }
        guard allowEmpty || after.count > 0 else {
            throw KeychainError(
                .parameter,
                message: "nothing is left of the secret; nothing was changed. For an empty secret add --allow-empty")
        }
        try store(after, in: item, consent)
    }

    /// If the keychain was locked meanwhile, a person is asked to unlock it, so that the edit is not lost.
    private func store(_ secret: SecretBytes, in item: Item, _ consent: Asking) throws {
        while true {
            do {
                return try replace(item, secret, consent)
            } catch let error as KeychainError where error.code == .interactionNotAllowed {
                guard Confirmation.isPossible else { throw error.losingTheEdit }
                Console.complain(error.message)
                try Confirmation.require("the edit is stored once the keychain is unlocked", else: "the edit is lost")
            } catch let error as KeychainError {
                throw error.losingTheEdit
            }
        }
    }

    /// Reads the item, and closes the store again, so that it is not open while the person edits.
    private func open(_ consent: Asking) throws -> Item {
        let session = try KeychainSession.existing(store, consent)
        let item = try filter.naming { try session.item(of: try filter.levels()) }
        try check(item.itemClass)
        return item
    }

    private func replace(_ item: Item, _ secret: SecretBytes, _ consent: Asking) throws {
        guard try KeychainSession.existing(store, consent).replaceSecret(of: item, with: secret) else {
            throw ToolFailure(
                message:
                    "another program has changed or deleted the item meanwhile; nothing was changed, and the edit is "
                    + "lost: edit it again")
        }
    }
}

extension KeychainError {
    fileprivate var losingTheEdit: KeychainError {
        KeychainError(code, message: "\(message); the edit is lost", cause: self)
    }
}

extension SecretBytes {
    fileprivate var withoutLineEnd: SecretBytes {
        guard endsLine else { return self }
        return withUnsafeBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0.dropLast())) }
    }
}
