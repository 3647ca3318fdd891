internal import Foundation
internal import KeychainEngine

/// Makes the two stores of one size. A million items take minutes, so they are kept.
struct StoreFiller {
    let layout: StoreLayout
    let floor: String

    func fillIfNeeded() throws {
        if layout.isFilled {
            // An interrupted run may have left it with a daemon.
            try layout.takeFromDaemon()
            return
        }
        tell("filling two stores with \(layout.items) items each")
        try layout.reset()
        _ = try BenchmarkRun.program(floor, ["fill", layout.floor.path, String(layout.items)])
        try fillEngine()
        try layout.markFilled()
    }

    private func fillEngine() throws {
        let engine = try makeEngine(directory: layout.engine, durable: false)
        for number in 0..<layout.items {
            _ = try engine.handle(SampleItem.stored(number, of: layout.items).addRequest, from: SampleItem.caller)
            if number % 100_000 == 99_999 { tell("  \(number + 1) of \(layout.items)") }
        }
    }
}
