/// One line of the table.
struct Row: Codable {
    enum Unit: String, Codable {
        case microseconds, bytes, times, count, rowsPerSecond, callsPerSecond

        /// Whether a goal is the least there should be, instead of the most.
        var isBetterHigher: Bool { self == .rowsPerSecond || self == .callsPerSecond }
    }

    /// What is held against the goal.
    enum Measure: String, Codable {
        /// Ours divided by the floor's.
        case ratio
        /// Ours minus the floor's.
        case difference
        /// Ours alone.
        case value
    }

    var work: String
    var items: Int?
    var unit: Unit
    var floor: Figure?
    var engine: Figure
    var measure: Measure
    /// nil: shown for information, promised by nobody.
    var goal: Double?

    var measured: Double {
        switch measure {
        case .ratio: engine.median / (floor?.median ?? .nan)
        case .difference: engine.median - (floor?.median ?? .nan)
        case .value: engine.median
        }
    }

    /// nil if there is no goal.
    var isMet: Bool? { goal.map { unit.isBetterHigher ? measured >= $0 : measured <= $0 } }
}
