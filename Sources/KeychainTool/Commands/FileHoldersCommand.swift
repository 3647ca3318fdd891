internal import ArgumentParser
internal import DataProtection
internal import Glibc
internal import Keychain
internal import KeychainModel

struct FileHoldersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch-locked", abstract: "List the programs that have protected files open.",
        discussion: """
            The keychain locks whoever has files open. Those of class complete are closed to their programs then, until \
            the unlock; those of class complete-unless-open stay open to whoever has them open. Of processes of other \
            users only root sees the files; how many could not be looked into is said.

            Examples:
              keychain file watch-locked
              keychain file watch-locked --follow
            """)

    @OptionGroup var store: StoreOptions
    @Flag(help: "Stay, and print the list anew at each lock of the keychain, until interrupted.") var follow = false
    @Flag(help: "Print a JSON object for each list; docs/cli.md lists the keys.") var json = false

    func run() throws {
        let session = follow ? try KeychainSession.existing(store) : try KeychainSession(store)
        // Before the first list: no lock after it is missed.
        var lock = follow ? try session.connection.lockStatus() : nil
        let storeFiles = StoreFiles(session)
        try list(session.files, storeFiles)
        while let former = lock {
            // Asking is enough here. Being told takes a place among the few that a user has (inotify(7)), and whoever
            // has none left would not hear of a lock.
            sleep(1)
            let present = try session.connection.lockStatus()
            lock = present
            guard present.epoch != former.epoch, present.state != .unlocked else { continue }
            if !json { try Console.write("\nThe keychain was locked.\n") }
            try list(session.files, storeFiles)
        }
    }

    private func list(_ files: ProtectedFiles, _ storeFiles: StoreFiles) throws(ToolFailure) {
        let search = HolderSearch(files, storeFiles)
        try Console.write(json ? search.json.text + "\n" : search.text)
    }
}
