internal import ArgumentParser

struct FileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "file", abstract: "Encrypt files, each with a class that says when it opens.",
        discussion: """
            The classes:
              complete                                   while the keychain is unlocked
              complete-unless-open                       the same, but files can be made while it is locked too
              complete-when-user-inactive                the same, and for a time after a lock (ten minutes)
              complete-until-first-user-authentication   from the first unlock on (the default)
              none                                       always

            Without a passcode the keychain is never locked, and all of them open at any time.

            Examples:
              keychainctl file protect --class complete notes.txt
              keychainctl file cat notes.txt | less
              tar c letters | keychainctl file write --class complete letters.tar
              keychainctl file class --set complete --recursive ~/Documents
            """,
        subcommands: [
            ProtectFileCommand.self, UnprotectFileCommand.self, FileClassCommand.self, CatFileCommand.self,
            WriteFileCommand.self, FileInfoCommand.self, FileCheckCommand.self, BackupKeyCommand.self,
            BackupFileCommand.self, RestoreFileCommand.self, MountFileCommand.self, UnmountFileCommand.self,
        ])
}
