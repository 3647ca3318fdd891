internal import Foundation
internal import KeychainEngine

/// Everything that is measured at one size, the engine and the floor in turn.
struct SizeBenchmark {
    let plan: Plan
    let layout: StoreLayout
    let floor: String

    func run() throws -> [Row] {
        tell("measuring at \(layout.items) items")
        try layout.warmUp()
        let floor = try FloorProcess(program: floor, store: layout.floor)
        // Adding comes first and with an engine of its own: what it writes is complete only when its last
        // connection has closed.
        var rows = try AddBenchmark(plan: plan, layout: layout, floor: floor).run()
        let engine = try makeEngine(directory: layout.engine, durable: true)
        rows.insert(try LookUpBenchmark(plan: plan, items: layout.items, engine: engine, floor: floor).run(), at: 0)
        rows.append(try HitsBenchmark(plan: plan, items: layout.items, engine: engine, floor: floor).run())
        rows += try FacadeBenchmark(plan: plan, items: layout.items, engine: engine).run()
        rows.append(try sizeOnDisk())
        return rows
    }

    /// Not a promise: it shows that both programs store rows of the same size.
    private func sizeOnDisk() throws -> Row {
        func bytesPerItem(_ url: URL) throws -> Figure {
            let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
            return Figure((attributes[.size] as? NSNumber ?? 0).doubleValue / Double(layout.items))
        }
        return Row(
            work: "size of the database per item", items: layout.items, unit: .bytes,
            floor: try bytesPerItem(layout.floor.appendingPathComponent("floor.sqlite")),
            engine: try bytesPerItem(layout.engine.appendingPathComponent("store/keychain.db")), measure: .ratio)
    }
}
