struct FileCheckSummary {
    var checked = 0
    var intact = 0
    var repaired = 0
    var damaged = 0
    var salvaged = 0
    /// The files in trees that are not protected.
    var plain = 0
    var skipped: [TreeWalk.Skipped: Int] = [:]
    /// The files that are locked, or could not be checked for another reason.
    var failed = 0

    var text: String {
        var parts = ["\(counted(checked, "protected file")) checked: \(outcome)"]
        if failed > 0 { parts.append("\(failed) could not be checked") }
        if salvaged > 0 { parts.append("\(salvaged) salvaged") }
        if plain > 0 { parts.append(counted(plain, "plain file")) }
        let kinds = TreeWalk.Skipped.text(skipped)
        if !kinds.isEmpty { parts.append("skipped: " + kinds) }
        return parts.joined(separator: "; ")
    }

    private var outcome: String {
        if checked > 0 && intact == checked { return checked == 1 ? "intact" : "all intact" }
        var parts = ["\(intact) intact"]
        if repaired > 0 { parts.append("\(repaired) repaired") }
        parts.append("\(damaged) damaged")
        return parts.joined(separator: ", ")
    }

    func json(_ reports: [FileCheckReport]) -> JSONValue {
        .object([
            ("checked", .number(Int64(checked))), ("intact", .number(Int64(intact))),
            ("repaired", .number(Int64(repaired))), ("damaged", .number(Int64(damaged))),
            ("salvaged", .number(Int64(salvaged))), ("plain", .number(Int64(plain))),
            ("skipped", TreeWalk.Skipped.json(skipped)), ("failed", .number(Int64(failed))),
            ("files", .array(reports.map(\.json))),
        ])
    }
}
