internal import ArgumentParser

struct KeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Make keys, and sign, encrypt and agree on secrets with them.",
        discussion: """
            Keys come from 'key generate' or, in files, by 'keychainctl add key'; 'keychainctl get key' writes them. \
            A key made with --in-engine never leaves the keychain. An algorithm has the name of Apple's constant behind the \
            operation; one that the key does not have is answered with a list of those that it has.

            Examples:
              keychainctl key generate --type ec256 --tag me > me.pem
              keychainctl key sign --tag me letter.txt > letter.sig
              keychainctl key verify --tag me --signature letter.sig letter.txt
            """,
        subcommands: [
            GenerateKeyCommand.self, SignCommand.self, VerifyCommand.self, EncryptCommand.self, DecryptCommand.self,
            AgreeCommand.self, RequestCertificateCommand.self,
        ])
}
