internal import FoundationEssentials
package import KeychainClient
internal import KeychainCrypto
package import KeychainModel

/// The way of items from one keychain into another, over their connections.
///
/// An item keeps its reference and its dates. Nothing is deleted before it lies in the target, so a move may be cut short
/// anywhere and begun again. The source is closed to all others; if it changes all the same, the move ends with an error.
package struct ItemMove {
    package struct End {
        let connection: Connection
        let asking: Asking
        /// The access group that the move is about; nil: all.
        var group: String?

        package init(connection: Connection, asking: Asking, group: String? = nil) {
            (self.connection, self.asking, self.group) = (connection, asking, group)
        }

        func ask<Answer>(_ question: Question<Answer>) throws(KeychainError) -> Answer {
            try connection.ask(question, asking)
        }

        /// Unlocks it with the passcode that the session has.
        func unlock() throws(KeychainError) {
            if let passcode = asking.session?.passcode { _ = try connection.unlock(passcode) { _ in } }
        }
    }

    /// nil: there is no such keychain yet.
    let source: End?
    let target: End?
    /// The access group of the items in the target; nil: they keep their own.
    var group: String?
    /// Whether what cannot leave the source is left there.
    var leavesBehind = false
    /// The most items that are deleted at once.
    var mostDeleted = 1_000

    package struct Plan {
        package fileprivate(set) var leftOut = LeftOut()
        package fileprivate(set) var hasFiles = false
        fileprivate var items: [UUID: Copy] = [:]
        /// How many of them the target lacks.
        fileprivate var missing = 0

        package var count: Int { items.count }

        /// nil: nothing stays where it is.
        package var leftInWords: String? {
            let parts = [leftOut.inWords, hasFiles ? "protected files, if there still are any" : nil]
                .compactMap(\.self)
            return parts.isEmpty ? nil : parts.joined(separator: ", ")
        }
    }

    /// The parts of an item that are the same in both keychains: all but its group.
    fileprivate struct Copy: Equatable {
        let version: ItemVersion
        let digest: Data

        init(_ item: Item) throws(KeychainError) {
            version = ItemVersion(item)
            var item = item
            item.accessGroup = ""
            digest = try ExportedItem.digest(of: item)
        }
    }

    /// Looks at both ends, and changes nothing.
    ///
    /// - Throws: if an item could not go, or would meet another one in the target.
    func plan() throws -> Plan {
        var (plan, names, clashes) = (Plan(), [[[UInt8]]: UUID](), [String]())
        var present: [UUID: Copy] = [:]
        try eachPart(of: target) { part in
            for item in part.items {
                names[item.uniqueName] = item.identifier
                present[item.identifier] = try Copy(item)
            }
        }
        try eachPart(of: source) { part in
            for item in part.items {
                let copy = try Copy(item)
                plan.items[item.identifier] = copy
                let there = present[item.identifier]
                // A later one has this one behind it: a program has changed it since an earlier move that was cut short.
                if there != copy, !(there.map { $0.version.modified > item.modified } ?? false) { plan.missing += 1 }
                let rival = names.updateValue(item.identifier, forKey: moved(item).uniqueName)
                if let rival, rival != item.identifier { clashes.append(item.forPeople) }
            }
            plan.leftOut += part.leftOut
            plan.hasFiles = part.hasFiles
        }
        if !leavesBehind, let left = plan.leftInWords { throw KeychainError(staying: left) }
        guard clashes.isEmpty else { throw KeychainError(clashes: clashes) }
        return plan
    }

    /// Copies all items, and reads them back.
    ///
    /// - Throws: if the target does not have all of them then, or the source has others.
    func copy(_ plan: Plan, _ progress: (_ done: Int) -> Void) throws {
        guard let target else { return }
        var done = 0
        try eachPart(of: source) { part in
            if part.items.isEmpty { return }
            _ = try target.ask(.importItems(ImportRequest(part.items.map(moved), isMove: true)))
            done += part.items.count
            progress(done)
        }
        let present = try self.plan()
        guard present.items == plan.items else { throw KeychainError.hasChanged }
        guard present.missing == 0 else {
            throw KeychainError(.notAvailable, message: "\(counted(present.missing, "item")) did not arrive")
        }
    }

    /// Deletes the items that were copied from the source, unless one has changed since, or another one has come.
    func removeFromSource(_ plan: Plan) throws {
        let versions = plan.items.values.map(\.version)
        for start in stride(from: 0, to: versions.count, by: mostDeleted) {
            guard try source?.ask(.removeMoved(Array(versions[start...].prefix(mostDeleted)))) == true else {
                throw KeychainError.hasChanged
            }
        }
        try eachPart(of: source) { if !$0.items.isEmpty { throw KeychainError.hasChanged } }
    }

    private func moved(_ item: Item) -> Item {
        var item = item
        if let group { item.accessGroup = group }
        return item
    }

    private func eachPart(of end: End?, _ body: (ExportedPart) throws -> Void) throws {
        guard let end else { return }
        var next: Int64? = 1
        while let start = next {
            let part = try end.ask(.export(ExportRequest(accessGroup: end.group, start: start, isMove: true)))
            try body(part)
            next = part.next
        }
    }
}

extension Item {
    /// Equal for two items that one keychain cannot have.
    fileprivate var uniqueName: [[UInt8]] {
        [[itemClass.number, synchronizable ? 1 : 0], Array(accessGroup.utf8)]
            + AttributeTable.table(for: itemClass).uniqueness.map { rule in
                (attributes[rule.attribute] ?? rule.uniquenessDefault)?.withIndexedBytes { [$0] + Array($1) } ?? []
            }
    }

    fileprivate var forPeople: String {
        let names = [place, attributes[.account], attributes[.label]].compactMap { value in
            if case .text(let text) = value { text } else { value.map { _ in "…" } }
        }
        let name = names.filter { !$0.isEmpty }.joined(separator: ", ")
        return "\(itemClass.title) \(name) of access group \(accessGroup)"
    }
}

extension KeychainError {
    fileprivate static var hasChanged: KeychainError {
        KeychainError(.notAvailable, message: "an item changed meanwhile")
    }

    fileprivate init(clashes: [String]) {
        let shown = clashes.prefix(10).joined(separator: "; ")
        self.init(
            .duplicateItem,
            message:
                "\(counted(clashes.count, "item")) would meet another one with the same unique attributes there: \(shown)"
                + "\(clashes.count > 10 ? "; …" : ""). Rename or delete one of each two "
                + "('KEYCHAIN_HOST=system keychainctl' does that in the system's keychain)")
    }

    fileprivate init(staying left: String) {
        self.init(
            .notAvailable,
            message:
                "not everything can go: \(left). Keys that were made in the keychain never leave it, 'keychainctl doctor' "
                + "tells of damaged items, and 'keychainctl file unprotect' makes ordinary files of protected ones. With "
                + "--leave-behind all that stays, out of reach until the items are moved the other way")
    }
}
