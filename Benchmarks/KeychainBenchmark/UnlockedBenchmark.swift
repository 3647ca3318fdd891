internal import KeychainEngine

/// Work on a store that has a passcode and is unlocked, against the same on the store it is a copy of.
struct UnlockedBenchmark {
    let plan: Plan
    let layout: StoreLayout
    let withPasscode: Engine

    private static let goal = 1.1

    private struct Samples {
        var with: [Double] = []
        var without: [Double] = []
    }

    func run() throws -> [Row] {
        let plain = try makeEngine(directory: layout.engine, durable: true)
        let remark = try withPasscode.keyPlaceRemark()
        return [
            row("look-up with secret, passcode set\(remark), against none (as floor)", try lookUps(plain)),
            row("durable add, passcode set\(remark), against none (as floor)", try adds(plain)),
        ]
    }

    private func row(_ work: String, _ samples: Samples) -> Row {
        Row(
            work: work, items: layout.items, unit: .microseconds, floor: Figure(samples: samples.without),
            engine: Figure(samples: samples.with), measure: .ratio, goal: Self.goal)
    }

    private func lookUps(_ plain: Engine) throws -> Samples {
        // The same items in the same order.
        var random = (with: RandomNumbers(), without: RandomNumbers())
        let ours = LookUps(items: layout.items, engine: withPasscode)
        let theirs = LookUps(items: layout.items, engine: plain)
        let count = plan.lookUps / plan.batches
        // The first batch of each fills caches and is not counted.
        _ = try (ours.samples(count, &random.with), theirs.samples(count, &random.without))
        return try inTurn {
            try ours.samples(count, &random.with)
        } without: {
            try theirs.samples(count, &random.without)
        }
    }

    private func adds(_ plain: Engine) throws -> Samples {
        let count = plan.adds / plan.batches
        var next = (with: 0, without: 0)
        let samples = try inTurn {
            defer { next.with += count }
            return try Adds(engine: withPasscode).samples(next.with..<next.with + count)
        } without: {
            defer { next.without += count }
            return try Adds(engine: plain).samples(next.without..<next.without + count)
        }
        try Adds(engine: withPasscode).forget()
        try Adds(engine: plain).forget()
        return samples
    }

    /// Batches of both; they change places, so that neither always comes second.
    private func inTurn(with: () throws -> [Double], without: () throws -> [Double]) throws -> Samples {
        var samples = Samples()
        for batch in 0..<plan.batches {
            if batch.isMultiple(of: 2) { samples.with += try with() }
            samples.without += try without()
            if !batch.isMultiple(of: 2) { samples.with += try with() }
        }
        return samples
    }
}
