/// How cost grows from the smallest to the largest store, against how the floor's own grows.
///
/// Trees get deeper and caches miss, for the floor too: only what the engine adds to that is the engine's.
enum Growth {
    static let goal = 1.5

    static func rows(from rows: [Row]) -> [Row] {
        var names: [String] = []
        for row in rows where isComparable(row) && !names.contains(row.work) {
            names.append(row.work)
        }
        return names.compactMap { name in growth(of: name, in: rows.filter { $0.work == name }) }
    }

    /// Whether it is a time that the floor has too.
    private static func isComparable(_ row: Row) -> Bool {
        row.unit == .microseconds && row.floor != nil && row.measure != .difference
    }

    private static func growth(of name: String, in rows: [Row]) -> Row? {
        guard let first = rows.first, let last = rows.last, let small = first.floor, let large = last.floor,
            let from = first.items, let to = last.items, from < to
        else { return nil }
        return Row(
            work: "growth from \(from) to \(to) items: \(name)", unit: .times,
            floor: Figure(large.median / small.median), engine: Figure(last.engine.median / first.engine.median),
            measure: .ratio, goal: goal)
    }
}
