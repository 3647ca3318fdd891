/// Access groups are told apart by the bytes of their names, as the store's index does it.
///
/// Swift's `==` takes two spellings of one text, é as one character or as two, for equal. A caller that holds one of them
/// would reach into the other one's group.
extension String {
    package func isSameGroup(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension Sequence<String> {
    package func containsGroup(_ group: String) -> Bool { contains { $0.isSameGroup(as: group) } }

    /// Without repetitions, in the order of the first ones.
    package var uniqueGroups: [String] {
        reduce(into: []) { groups, group in
            if !groups.containsGroup(group) { groups.append(group) }
        }
    }
}
