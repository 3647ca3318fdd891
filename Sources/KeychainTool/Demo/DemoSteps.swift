/// A command line of the demo, and its result as the demo tells it.
struct DemoStep {
    let chapter: String
    let title: String
    private(set) var line = ""
    /// The texts that are typed at the questions of the line. It asks as many.
    private(set) var answers: [String] = []
    private(set) var status: Int32 = 0
    /// A line of the output; nil: any output is as told.
    private(set) var says: String?

    /// Scripts/picture draws the first chapter.
    static let all = steps(of: text)

    /// The lines that take the unlocked keys of a demo that was stopped out of the kernel's keyring. The unlock first
    /// finishes a change that was cut short.
    static let cleaning = ["keychainctl unlock", "keychainctl passcode remove --yes"].compactMap { line in
        all.first { $0.line == line }
    }

    /// - Parameter text: A line that begins with `#` is a chapter, and one without a sign is the title of a step. The
    ///   others belong to the step: `$` its command line, `>` an answer, `<` a line of its output, `=` its status.
    static func steps(of text: String) -> [DemoStep] {
        var steps: [DemoStep] = []
        var chapter = ""
        for line in text.split(separator: "\n") {
            let rest = String(line.dropFirst(2))
            switch line.prefix(2) {
            case "# ": chapter = rest
            case "$ ": steps[steps.count - 1].line = rest
            case "> ": steps[steps.count - 1].answers.append(rest)
            case "< ": steps[steps.count - 1].says = rest
            case "= ": steps[steps.count - 1].status = Int32(rest)!  // it is in the text below
            default: steps.append(DemoStep(chapter: chapter, title: String(line)))
            }
        }
        return steps
    }

    private static let text = #"""
        # A minute with the keychain
        A password is stored.
        $ printf hunter2 | keychainctl add generic --service mail.example --account alice
        A token is stored that is gone after a day.
        $ printf eyJhbGci | keychainctl add generic --service api.example --account ci --expires 24h
        The password is read again, and it is the same.
        $ keychainctl get generic --service mail.example
        < hunter2
        The owner sets a passcode, and all keys are made anew.
        $ keychainctl passcode set
        > correct horse battery staple
        > correct horse battery staple
        The owner locks the keychain.
        $ keychainctl lock
        The password is refused: locked is never "not found".
        $ keychainctl get generic --service mail.example
        = 36
        The owner unlocks the keychain.
        $ keychainctl unlock
        > correct horse battery staple
        All items are there again.
        $ keychainctl find
        The password is nowhere in the store's files.
        $ grep -rl hunter2 ~/.local/share/keychain || echo nowhere in clear
        < nowhere in clear

        # Items
        The same account is refused a second time.
        $ printf again | keychainctl add mail.example --account alice
        = 45
        So the secret is replaced, and the new one is read.
        $ printf Tr0ub4dor | keychainctl update mail.example && keychainctl get mail.example
        < Tr0ub4dor
        Another access group may use the same names.
        $ printf other | keychainctl add mail.example --account alice --group games
        The first group still has its own item.
        $ keychainctl get mail.example --group keychain
        < Tr0ub4dor
        A third group has none. Groups keep honest programs of one user apart; they are no wall.
        $ keychainctl get mail.example --group music
        = 44
        An item opens only together with a password of its own.
        $ printf 271828 | keychainctl add safe.example --require application-password
        > plum tree 1414
        > plum tree 1414
        Without it, and with nobody to be asked, reading is refused.
        $ keychainctl get safe.example --no-interaction
        = 36
        A wrong one does not open it, and the right one does.
        $ keychainctl get safe.example
        > not the password
        > plum tree 1414
        < 271828
        Someone tries a wrong passcode.
        $ keychainctl lock --now; keychainctl unlock
        > not the passcode
        = 51
        The owner unlocks with the right one.
        $ keychainctl unlock
        > correct horse battery staple

        # What lies on the disk
        These are the files.
        $ find .local -type f -exec ls -l {} +
        Does a search work? A plain file with ten values is searched for them.
        $ printf '%s\n' hunter2 Tr0ub4dor eyJhbGci 271828 alice mail.example safe.example games \#
        'correct horse battery staple' 'plum tree 1414' > values; grep -cFf values values
        < 10
        The same search finds none of them in the files of the keychain.
        $ grep -rlFf values .local
        = 1

        # A file
        A plain file is searched for its text, which is there.
        $ echo 'Dear Grace, the engine weaves like the loom.' > letter.txt && grep -l Grace letter.txt
        The file is protected, in its place. The disk may still have the blocks of the plain file.
        $ keychainctl file protect --class complete letter.txt
        Its bytes are searched again, and the text is not there.
        $ grep -l Grace letter.txt
        = 1
        A key for restoring files is made.
        $ keychainctl file backup-key --output files.key
        > plum tree 1414
        > plum tree 1414
        The owner locks the keychain.
        $ keychainctl lock
        The file is refused, to every program of this user.
        $ keychainctl file cat letter.txt
        = 36
        A backup needs no key: the copy is encrypted.
        $ keychainctl file backup letter.txt --to copies
        The owner unlocks the keychain.
        $ keychainctl unlock
        > correct horse battery staple
        The file is read, and its text is the same.
        $ keychainctl file cat letter.txt
        < Dear Grace, the engine weaves like the loom.
        Eight bytes in the midst of its content are overwritten.
        $ head -c 8 /dev/zero | dd of=letter.txt bs=1 seek=4100 conv=notrunc status=none
        It is refused: no wrong byte is written.
        $ keychainctl file cat letter.txt
        = 93
        The backup is restored under another keychain.
        $ keychainctl file restore copies/letter.txt --key files.key --to restored --store other --device-key other
        > plum tree 1414
        There the file opens, and its text is the same.
        $ keychainctl file cat restored/letter.txt --store other --device-key other
        < Dear Grace, the engine weaves like the loom.

        # Someone edits the database
        A recovery key of 64 KiB is stored. It fills the pages at the end of the database.
        $ head -c 65536 /dev/urandom | keychainctl add recovery.example
        A part of one of these pages is overwritten, with every program closed.
        $ cd .local/share/keychain && head -c 64 /dev/zero | dd of=keychain.db bs=1 \#
        seek=$(($(wc -c < keychain.db) - 18432)) conv=notrunc status=none
        The secret is refused whole: no wrong byte is returned.
        $ keychainctl get recovery.example
        = 93
        The other items are as they were.
        $ keychainctl get mail.example --group keychain
        < Tr0ub4dor
        The damage is found.
        $ keychainctl doctor
        = 1

        # The end
        The owner removes the passcode: from here on the keychain is never locked.
        $ keychainctl passcode remove --yes
        > correct horse battery staple
        Everything is deleted; the item with a password of its own needs none for that.
        $ keychainctl delete generic --all --yes
        < 5 items deleted
        The password is looked for once more.
        $ keychainctl get mail.example
        = 44
        """#
}
