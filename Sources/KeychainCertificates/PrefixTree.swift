/// Paths of which many begin alike, in a form in which a path is looked up in a time that depends on its own length alone.
struct PrefixTree<Element: Hashable & Sendable>: Sendable {
    private var steps: [Step: Int] = [:]
    private var marks: [PrefixMarks] = [[]]

    private struct Step: Hashable {
        let node: Int
        let element: Element
    }

    mutating func insert(_ path: some Sequence<Element>, _ new: PrefixMarks) {
        var (node, parent): (Int, Int?) = (0, nil)
        for element in path {
            let step = Step(node: node, element: element)
            parent = node
            node = steps[step] ?? marks.count
            if node == marks.count { marks.append([]) }
            steps[step] = node
        }
        marks[node].formUnion(new)
        if let parent, new.contains(.itself) { marks[parent].insert(.child) }
    }

    /// Whether an inserted path stands for this one.
    func covers(_ path: some Sequence<Element>, _ work: TrustWork) -> Bool {
        var node = 0
        for element in path {
            if marks[node].contains(.below) { return true }
            guard let next = next(node, element, work) else { return false }
            node = next
        }
        return marks[node].contains(.itself)
    }

    /// Whether a path that is longer than this one by one element stands for itself.
    func hasChild(of path: some Sequence<Element>, _ work: TrustWork) -> Bool {
        var node = 0
        for element in path {
            guard let next = next(node, element, work) else { return false }
            node = next
        }
        return marks[node].contains(.child)
    }

    private func next(_ node: Int, _ element: Element, _ work: TrustWork) -> Int? {
        work.spend(1)
        return steps[Step(node: node, element: element)]
    }
}

/// The meaning of an inserted path.
struct PrefixMarks: OptionSet {
    let rawValue: UInt8

    static let itself = PrefixMarks(rawValue: 1)
    static let below = PrefixMarks(rawValue: 2)
    /// A path that is longer by one element stands for itself.
    fileprivate static let child = PrefixMarks(rawValue: 4)
}
