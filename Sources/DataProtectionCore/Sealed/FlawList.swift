/// One flaw that a check has found.
struct Flaw: Sendable {
    let kind: ProtectedFileCheck.Finding.Kind
    var content: Range<UInt64>?
    let losesContent: Bool
    let reason: String

    init(
        _ kind: ProtectedFileCheck.Finding.Kind, _ content: Range<UInt64>?, losesContent: Bool, _ reason: String
    ) {
        self.kind = kind
        self.content = content
        self.losesContent = losesContent
        self.reason = reason
    }
}

/// Flaws in the order of the content. Neighbours that are alike are joined.
struct FlawList {
    private(set) var all: [Flaw] = []

    var lostByteCount: UInt64 {
        all.filter(\.losesContent).compactMap(\.content).map { $0.upperBound - $0.lowerBound }.reduce(0, +)
    }

    mutating func add(_ flaw: Flaw) {
        if let last = all.last, last.kind == flaw.kind, last.reason == flaw.reason,
            last.losesContent == flaw.losesContent, let former = last.content, let present = flaw.content,
            former.upperBound == present.lowerBound
        {
            all[all.endIndex - 1].content = former.lowerBound..<present.upperBound
        } else {
            all.append(flaw)
        }
    }
}
