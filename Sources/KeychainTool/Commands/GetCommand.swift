internal import ArgumentParser
internal import KeychainModel

struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Write a secret to standard output, exactly its bytes and nothing else.",
        discussion: "If several items match, nothing is written and the message names their access groups.")

    @OptionGroup var store: StoreOptions
    @OptionGroup var filter: ItemFilter

    func validate() throws {
        if try filter.requireItemClass() == .identity {
            throw ValidationError("An identity has no bytes of its own: get its certificate or its key.")
        }
    }

    func run() throws {
        let query = try filter.query(for: try filter.requireItemClass())
        try Console.write(try KeychainSession.existing(store).secret(of: query))
    }
}
