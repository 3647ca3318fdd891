internal import KeychainEngine

/// What a passcode costs, on a copy of a filled store that has one: with the store unlocked, when it is unlocked, locked
/// and given another passcode, and when all its keys are renewed.
struct LockBenchmark {
    let plan: Plan
    let layout: StoreLayout

    func run() throws -> [Row] {
        tell("measuring the lock at \(layout.items) items")
        return try PasscodeStore.with(copyOf: layout) { store in
            var rows = try store.withEngine { engine in
                try UnlockedBenchmark(plan: plan, layout: layout, withPasscode: engine).run()
                    + PasscodeBenchmark(count: plan.unlocks, items: layout.items, engine: engine).run()
            }
            // Passcodes that cost nothing from here on, so that what is left of the cost can be seen.
            rows += try store.withEngine(passcodeCost: 1) { engine in
                var passcodes = Passcodes()
                _ = try PasscodeChange.sample(&passcodes, engine)
                let bare = BarePasscodeBenchmark(count: plan.unlocks * 5, items: layout.items, engine: engine)
                return try bare.run(&passcodes) + RekeyBenchmark(items: layout.items, engine: engine).run(&passcodes)
            }
            return rows
        }
    }
}
