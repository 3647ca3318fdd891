/// Access groups are told apart by the bytes of their names, as the store's index does it: a caller that holds one spelling
/// of a text would otherwise reach into the other one's group.
extension String {
    package func isSameGroup(as other: String) -> Bool { hasSameBytes(as: other) }
}

extension [String] {
    package func containsGroup(_ group: String) -> Bool { contains { $0.isSameGroup(as: group) } }
}

extension Sequence<String> {
    /// Without repetitions, in the order of the first ones.
    package var uniqueGroups: [String] {
        reduce(into: []) { groups, group in
            if !groups.containsGroup(group) { groups.append(group) }
        }
    }
}
