internal import ArgumentParser
internal import Keychain
internal import KeychainModel

struct LockCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lock", abstract: "Take the keys away from every program of this user.",
        discussion: """
            What is accessible "after first unlock" or "always" stays within reach. Calls in progress have ten \
            seconds to end; new ones are refused (36) at once.
            """)

    @OptionGroup var store: StoreOptions
    @Flag(help: "Refuse calls in progress too.") var now = false

    func run() throws {
        let (session, _) = try KeychainSession.withPasscode(store)
        _ = try session.connection.perform(.lock(now ? .now : .withGrace))
    }
}
