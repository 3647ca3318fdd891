internal import KeychainEngine
internal import KeychainModel

/// Adds that are on the disk when they are reported, one transaction each.
struct AddBenchmark {
    let plan: Plan
    let layout: StoreLayout
    let floor: FloorProcess

    func run() throws -> [Row] {
        // What an interrupted run left.
        try forget()
        let floorStart = try floor.checkpoint()
        let engineStart = try ProcessFigures.bytesWritten()
        let samples = try addInTurn()
        // The engine has gone by now, and its log with it: every byte that a checkpoint copies has been written.
        let engineBytes = try ProcessFigures.bytesWritten() - engineStart
        let floorBytes = try floor.checkpoint() - floorStart
        try forget()
        return [
            Row(
                work: "durable add", items: layout.items, unit: .microseconds, floor: Figure(samples: samples.floor),
                engine: Figure(samples: samples.engine), measure: .ratio, goal: 1.5),
            Row(
                work: "written per add", items: layout.items, unit: .bytes, floor: Figure(floorBytes / Double(count)),
                engine: Figure(engineBytes / Double(count)), measure: .value, goal: 64_000),
        ]
    }

    private var perBatch: Int { plan.adds / plan.batches }
    private var count: Int { perBatch * plan.batches }

    private func addInTurn() throws -> (engine: [Double], floor: [Double]) {
        let adds = Adds(engine: try makeEngine(directory: layout.engine, durable: true))
        var samples: (engine: [Double], floor: [Double]) = ([], [])
        for batch in 0..<plan.batches {
            samples.engine += try adds.samples(batch * perBatch..<(batch + 1) * perBatch)
            samples.floor += try floor.samples(of: "add", count: perBatch)
        }
        return samples
    }

    /// Leaves both stores as they were filled.
    private func forget() throws {
        try Adds(engine: try makeEngine(directory: layout.engine, durable: false)).forget()
        try floor.forget()
    }
}

/// The engine's side of it.
struct Adds {
    let engine: Engine

    func samples(_ numbers: Range<Int>) throws -> [Double] {
        try numbers.map { number in
            let request = SampleItem.added(number).addRequest
            return try Stopwatch.time { try engine.handle(request, from: SampleItem.caller) }.microseconds
        }
    }

    /// Removes what was added, if anything was.
    func forget() throws {
        do throws(KeychainError) {
            _ = try engine.handle(SampleItem.added(0).deleteServiceRequest, from: SampleItem.caller)
        } catch  where error.code == .itemNotFound {}
    }
}
