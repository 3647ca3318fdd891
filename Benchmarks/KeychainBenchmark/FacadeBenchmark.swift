internal import Foundation
internal import KeychainClient
internal import KeychainEngine
internal import KeychainModel
internal import KeychainSecurity
internal import SwiftKeychain

/// The price of `SecItemCopyMatching`, and of the Swift API, on top of `Engine.handle`, on one engine.
struct FacadeBenchmark {
    let plan: Plan
    let items: Int
    let engine: Engine

    /// What is asked for: bridging the answer is most of the cost, so both forms are shown.
    private enum Result: CaseIterable {
        case secret, everything
        /// The Swift API's text.
        case text

        var title: String {
            switch self {
            case .secret: "added by SecItemCopyMatching to Engine.handle (as floor): secret"
            case .everything: "added by SecItemCopyMatching to Engine.handle (as floor): secret and attributes"
            case .text: "added by Keychain.string(for:) to Engine.handle (as floor)"
            }
        }

        /// In microseconds.
        var goal: Double {
            switch self {
            case .secret: 8
            case .everything: 12
            case .text: 3
            }
        }
    }

    func run() throws -> [Row] { try Result.allCases.map(row) }

    private func row(_ result: Result) throws -> Row {
        let connection = Connection(engine: engine, caller: SampleItem.caller)
        var random = RandomNumbers()
        var facade: [Double] = []
        var plain: [Double] = []
        for batch in 0...plan.batches {
            let samples = try Connection.$override.withValue(connection) { try inTurn(result, &random) }
            if batch == 0 { continue }
            facade += samples.facade
            plain += samples.plain
        }
        return Row(
            work: result.title, items: items, unit: .microseconds, floor: Figure(samples: plain),
            engine: Figure(samples: facade), measure: .difference, goal: result.goal)
    }

    /// One batch: every item through both, so that both find the same pages in the cache.
    private func inTurn(_ result: Result, _ random: inout RandomNumbers) throws -> (facade: [Double], plain: [Double]) {
        var samples: (facade: [Double], plain: [Double]) = ([], [])
        for number in 0..<plan.lookUps / plan.batches {
            let item = SampleItem.stored(random.number(below: items), of: items)
            // Whoever goes second finds the pages warm: they change places.
            if number.isMultiple(of: 2) {
                samples.facade.append(try throughFacade(item, result))
                samples.plain.append(try throughEngine(item))
            } else {
                samples.plain.append(try throughEngine(item))
                samples.facade.append(try throughFacade(item, result))
            }
        }
        return samples
    }

    /// The façade's side alone, in the dearer form.
    func samplesOfEverything() throws -> [Double] {
        let connection = Connection(engine: engine, caller: SampleItem.caller)
        var random = RandomNumbers()
        return try Connection.$override.withValue(connection) {
            try (0..<plan.lookUps).map { _ in
                try throughFacade(SampleItem.stored(random.number(below: items), of: items), .everything)
            }
        }
    }

    private func throughEngine(_ item: SampleItem) throws -> Double {
        let request = item.findRequest
        let timed = try Stopwatch.time { try engine.handle(request, from: SampleItem.caller) }
        try timed.result.requireSecrets(1)
        return timed.microseconds
    }

    /// From the dictionary a program has to the object it gets; what it does with either is its own.
    private func throughFacade(_ item: SampleItem, _ result: Result) throws -> Double {
        if result == .text { return try throughSwiftAPI(item) }
        let query = query(for: item, result)
        var found: AnyObject?
        let timed = Stopwatch.time { SecItemCopyMatching(query as CFDictionary, &found) }
        guard timed.result == errSecSuccess, found != nil else {
            throw BenchmarkError("SecItemCopyMatching gave \(timed.result)")
        }
        return timed.microseconds
    }

    private func throughSwiftAPI(_ item: SampleItem) throws -> Double {
        let keychain = Keychain(service: item.service)
        let timed = try Stopwatch.time { try keychain.string(for: item.account) }
        guard timed.result != nil else { throw BenchmarkError("Keychain.string(for:) found nothing") }
        return timed.microseconds
    }

    private func query(for item: SampleItem, _ result: Result) -> [String: Any] {
        var query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrAccount as String: item.account,
            kSecAttrService as String: item.service,
            kSecMatchLimit as String: kSecMatchLimitOne,
            kSecReturnData as String: true,
        ]
        if result == .everything { query[kSecReturnAttributes as String] = true }
        return query
    }
}
