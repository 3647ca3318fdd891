internal import ArgumentParser
internal import Foundation
internal import KeychainClient
internal import KeychainModel
internal import KeychainSecurity
internal import SwiftKeychain

/// Our side of `compare-gnome-keyring`: what a program pays that calls `KeychainSecurity`, on whatever host the environment
/// names. The same work, names and output as GnomeKeyring/libsecret-benchmark.c.
struct CompareCommand: ParsableCommand {
    enum Work: String, ExpressibleByArgument, CaseIterable { case fill, measure }

    static let configuration = CommandConfiguration(
        commandName: "compare", abstract: "Run by compare-gnome-keyring, on a keychain of its own.",
        shouldDisplay: false)

    @Argument(help: "fill: set a passcode and add the items. measure: on a keychain that was filled.")
    var work: Work

    @Argument(help: "Items in the keychain.")
    var items: Int

    @Option(help: "Items to add, one at a time; they are removed again.")
    var stores = 0

    @Option(help: "Secrets to look up.")
    var lookUps = 0

    @Option(help: "Searches for every tenth item with its secret.")
    var searches = 0

    func run() throws {
        switch work {
        case .fill:
            _ = try Connection.current.perform(.passcode(.set(Passcodes.first)))
            defer { lock() }
            for number in 0..<items { _ = try ComparedItem(number).add() }
        case .measure:
            _ = try Connection.current.perform(.unlock(Passcodes.first))
            defer { lock() }
            try measure()
        }
    }

    private func measure() throws {
        // What the first call pays besides: opening the store, or connecting.
        _ = try ComparedItem(0).lookUp()
        let added = items..<items + stores
        report("store", try added.map { try ComparedItem($0).add() })
        for number in added { try ComparedItem(number).remove() }
        var random = RandomNumbers()
        report("look-up", try (0..<lookUps).map { _ in try ComparedItem(random.number(below: items)).lookUp() })
        report("search", try (0..<searches).map { try ComparedItem($0).search(expecting: items / 10) })
    }

    private func report(_ name: String, _ times: [Double]) {
        print(([name] + times.map { String(format: "%.1f", $0) }).joined(separator: " "))
    }

    /// The keys of a keychain that is thrown away must not stay where they are kept.
    private func lock() {
        do {
            _ = try Connection.current.perform(.lock(.now))
        } catch {
            tell("The keychain cannot be locked: \(error)")
        }
    }
}
