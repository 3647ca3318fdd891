internal import ArgumentParser
internal import Foundation
internal import KeychainClient
internal import KeychainModel
internal import KeychainSecurity
internal import SwiftKeychain

/// Run by `count-instructions`: look-ups between marks, on whatever host the environment names.
struct CallsCommand: ParsableCommand {
    enum Way: String, ExpressibleByArgument, CaseIterable { case fill, request, dictionary }

    static let configuration = CommandConfiguration(
        commandName: "calls", abstract: "Run by count-instructions, on a keychain without a passcode.",
        shouldDisplay: false)

    @Argument(help: "fill: add the items. request: as our own front ends ask. dictionary: SecItemCopyMatching.")
    var way: Way

    @Argument(help: "Items in the keychain.")
    var items: Int

    @Option(help: "How many look-ups.")
    var count = 40

    func run() throws {
        if way == .fill { return try (0..<items).forEach { _ = try ComparedItem($0).add() } }
        var random = RandomNumbers()
        for _ in 0..<count {
            let item = ComparedItem(random.number(below: items))
            switch way {
            case .fill: break
            case .request:
                let request = item.findRequest
                let reply = try marked { try Connection.current.perform(request) }
                try reply.requireSecrets(1)
            case .dictionary:
                let query = item.lookUpQuery as CFDictionary
                var found: AnyObject?
                guard marked({ SecItemCopyMatching(query, &found) }) == errSecSuccess, found != nil else {
                    throw BenchmarkError("SecItemCopyMatching found nothing")
                }
            }
        }
    }

    /// A system call that nothing else here makes stands before and behind the work.
    private func marked<R>(_ work: () throws -> R) rethrows -> R {
        getppid()
        defer { getppid() }
        return try work()
    }
}
