internal import FoundationEssentials
internal import KeychainClient
internal import KeychainCrypto
internal import KeychainModel

/// The way of all items from one keychain into another, over their connections.
///
/// An item keeps its reference and its dates. Nothing is deleted before it lies in the target, so the move may be cut short
/// anywhere and begun again.
struct ItemMove {
    struct End {
        let connection: Connection
        let asking: Asking

        fileprivate func ask<Answer>(_ question: Question<Answer>) throws(KeychainError) -> Answer {
            try connection.ask(question, asking)
        }
    }

    let source: End
    let target: End
    /// The access group in the target of an item in this one.
    var group: (String) -> String = { $0 }
    /// Whether items that cannot leave the source are left there.
    var leavesBehind = false

    /// The content of the source, as it was seen.
    struct Plan {
        fileprivate(set) var items: [ItemVersion] = []
        fileprivate(set) var leftOut = LeftOut()
        /// How many change their access group.
        fileprivate(set) var regrouped = 0
        /// The bytes that the target is to have, as digests.
        fileprivate var digests: [UUID: Data] = [:]
        /// The items that the target lacks.
        fileprivate var missing: Set<UUID> = []
    }

    /// Looks at both ends, and changes nothing.
    ///
    /// - Throws: if an item could not go, or would meet another one in the target.
    func plan() throws -> Plan {
        var plan = Plan()
        var (present, names): ([UUID: Data], [[[UInt8]]: UUID]) = ([:], [:])
        _ = try eachItem(of: target) { item in
            present[item.identifier] = try ExportedItem.digest(of: item)
            names[item.uniqueName] = item.identifier
        }
        var clashes: [String] = []
        var needsPasscode = false
        plan.leftOut = try eachItem(of: source) { item in
            let moved = moved(item)
            plan.items.append(ItemVersion(item))
            if !moved.accessGroup.isSameGroup(as: item.accessGroup) { plan.regrouped += 1 }
            let digest = try ExportedItem.digest(of: moved)
            plan.digests[item.identifier] = digest
            if present[item.identifier] != digest { plan.missing.insert(item.identifier) }
            let rival = names.updateValue(item.identifier, forKey: moved.uniqueName)
            if let rival, rival != item.identifier { clashes.append(item.forPeople) }
            needsPasscode =
                needsPasscode || item.accessControl.isConstrained
                || item.accessControl.protection == .whenPasscodeSetThisDeviceOnly
        }
        if !leavesBehind { try requireAll(plan.leftOut) }
        guard clashes.isEmpty else { throw KeychainError(clashes: clashes) }
        if needsPasscode, !plan.missing.isEmpty, try !target.ask(.authenticationStatus).hasPasscode {
            throw KeychainError(
                .noPasscode,
                message:
                    "some items are there only while a passcode is set, or ask for it, and the keychain that "
                    + "they go to has none ('KEYCHAIN_HOST=system keychainctl passcode set' sets the system's). Nothing was "
                    + "changed")
        }
        return plan
    }

    /// Copies what the target lacks, and reads all of it back.
    ///
    /// - Throws: if the target does not have it then.
    func copy(_ plan: Plan, _ progress: (_ done: Int, _ total: Int) -> Void) throws {
        guard !plan.missing.isEmpty else { return }
        var done = 0
        _ = try eachPart(of: source) { items in
            // Later changes are copied when no program uses the source any more.
            let batch = try items.map(moved).filter { item in
                try plan.missing.contains(item.identifier)
                    && plan.digests[item.identifier] == ExportedItem.digest(of: item)
            }
            if !batch.isEmpty { _ = try target.ask(.importItems(ImportRequest(batch, isMove: true))) }
            done += batch.count
            progress(done, plan.missing.count)
        }
        var rest = plan.digests
        _ = try eachItem(of: target) { item in
            if try rest[item.identifier] == ExportedItem.digest(of: item) { rest[item.identifier] = nil }
        }
        guard rest.isEmpty else {
            throw KeychainError(
                .notAvailable,
                message:
                    "\(counted(rest.count, "item")) changed meanwhile, or did not arrive: nothing was deleted; run the "
                    + "command again")
        }
    }

    /// Deletes the items that were copied from the source, unless one has changed since.
    func removeFromSource(_ plan: Plan) throws {
        for start in stride(from: 0, to: plan.items.count, by: ImportRequest.mostItems) {
            guard try source.ask(.removeMoved(Array(plan.items[start...].prefix(ImportRequest.mostItems)))) else {
                throw KeychainError(.notAvailable, message: "an item changed meanwhile: run the command again")
            }
        }
    }

    private func moved(_ item: Item) -> Item {
        var item = item
        item.accessGroup = group(item.accessGroup)
        return item
    }

    private func requireAll(_ leftOut: LeftOut) throws(KeychainError) {
        guard let stays = leftOut.inWords else { return }
        throw KeychainError(
            .notAvailable,
            message:
                "not everything can go: \(stays). Keys that were made in the keychain never leave it; damaged items are "
                + "told by 'keychainctl doctor'. With --leave-behind they stay where they are, out of reach until the "
                + "keychain is taken back. Nothing was changed")
    }

    private func eachItem(of end: End, _ body: (Item) throws -> Void) throws -> LeftOut {
        try eachPart(of: end) { for item in $0 { try body(item) } }
    }

    private func eachPart(of end: End, _ body: ([Item]) throws -> Void) throws -> LeftOut {
        var leftOut = LeftOut()
        var request: ExportRequest? = ExportRequest(isMove: true)
        while let present = request {
            let part = try end.ask(.export(present))
            try body(part.items)
            leftOut += part.leftOut
            request = part.next.map { ExportRequest(start: $0, isMove: true) }
        }
        return leftOut
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
        let name = [place, attributes[.account], attributes[.label]].compactMap(\.self)
            .map { $0.text { _ in "…" } }.first { !$0.isEmpty }
        return "\(itemClass.title) \(name ?? "without a name") of access group \(accessGroup)"
    }
}

extension KeychainError {
    fileprivate init(clashes: [String]) {
        let shown = clashes.prefix(10).joined(separator: "; ")
        self.init(
            .duplicateItem,
            message:
                "\(counted(clashes.count, "item")) would meet another one with the same unique attributes there: \(shown)"
                + "\(clashes.count > 10 ? "; …" : ""). Rename or delete one of each two. Nothing was changed")
    }
}
