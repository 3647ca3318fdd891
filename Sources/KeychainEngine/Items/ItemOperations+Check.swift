internal import KeychainCrypto
package import KeychainModel

extension ItemOperations {
    /// Checks the whole store: the database's own structure, then every row, its entries and its place.
    package func check() throws -> [StoreFinding] {
        var findings = try store.integrityProblems().map { problem in
            StoreFinding(
                .damage, "the database is damaged: \(problem)",
                advice: StoreFinding.repairAdvice, isRepairable: true)
        }
        var report = RowReport()
        do {
            try checkRows(&report)
            findings += try lostPair()
        } catch let error as KeychainError where error.signal != .staleKeys && error.signal != .lookAtReader {
            // The remaining rows are not known; the findings so far are reported.
            findings.add(
                .damage, "the items could not all be looked at: \(error.message)",
                advice: StoreFinding.repairAdvice, isRepairable: true)
        }
        findings += report.findings
        if keys.snapshot.bag.isRekeying {
            findings.add(
                .warning, "a renewal of all keys is not finished: items are under former keys, or do not open",
                advice: keys.snapshot.bag.passcode == nil
                    ? "run 'keychainctl passcode set', which goes on with it first"
                    : "run 'keychainctl unlock', which goes on with it")
        }
        if configuration.host.isDaemon, keys.latestExpiry > clockDate {
            findings.add(
                .warning,
                "keychaind has seen the clock at a later time than it is now: items that expire by then are hidden",
                advice: "if that time was wrong, start keychaind anew: it forgets it")
        }
        let (version, known) = (try store.version(), configuration.schema.version)
        if version < known {
            findings.add(
                .note,
                "the store waits at version \(version) of \(known): programs with release "
                    + "\(configuration.schema.release(of: version)) or later inside open it",
                advice:
                    "nothing is to be done: what needs version \(known) raises it, and earlier programs then say "
                    + "that they have to be updated")
        }
        let free = try store.freeBytes()
        if free > 1 << 20 {
            findings.add(
                .note, "deleted items have left \(free >> 20) MiB of the database free",
                advice: "run 'keychainctl doctor --compact', which gives them back to the disk")
        }
        if keys.snapshot.memoryKind == .ordinary {
            findings.add(
                .note, "the keys are in memory that can be swapped out",
                advice: "raise the limit of locked memory ('ulimit -l'), or encrypt the swap space")
        }
        return findings
    }

    private func lostPair() throws -> [StoreFinding] {
        let bag = keys.snapshot.bag
        guard bag.passcode != nil && bag.consent == nil else { return [] }
        let sealed = try store.read { try $0.itemsSealedWithPasscode() }
        guard !sealed.isEmpty else { return [] }
        return [
            StoreFinding(
                .damage,
                "the keybag has lost the key pair that secrets are sealed for with the passcode: \(sealed.listed) not open",
                advice: "put the file keybag back from a backup. Without one delete these items: the next "
                    + "'keychainctl unlock' makes another pair")
        ]
    }

    private func checkRows(_ report: inout RowReport) throws {
        // A search would refuse a keybag that is older than some rows, and the check has to report that.
        try store.read { connection in
            var next = try connection.nextItem(from: 1)
            while let id = next {
                try check(id, on: connection, &report)
                next = id < .max ? try connection.nextItem(from: id + 1) : nil
            }
            report.strayEntries = try connection.strayEntryCount()
        }
    }

    private func check(_ id: Int64, on connection: StoreConnection, _ report: inout RowReport) throws {
        if try connection.withRow(id, isExpired) == true { return }
        guard let home = try connection.withRow(id, { $0.home }),
            let kind = try connection.kind(ofHome: home)
        else { return report.unreadable.append(id) }
        do {
            let row = try connection.withRow(id, secrets: true) { row in
                (
                    try cipher.open(row, as: kind.itemClass) { _ in .everythingFree },
                    [IndexToken](joinedBytes: row.tokens)
                )
            }
            guard case (let opened?, let listed)? = row else { return report.unreadable.append(id) }
            let item = opened.item
            if try authentication.isInvalidated(item.accessControl) { report.invalidated += 1 }
            guard let indexers = try keys.indexers(for: kind.tier) else { return report.locked += 1 }
            guard let indexer = indexers.first(where: { $0.generation == opened.generation })?.indexer else {
                return report.misplaced.append(id)
            }
            let due = indexer.tokens(of: item.itemClass, attributes: item.attributes)
            let hasEntries = try due.allSatisfy { try connection.firstItem(with: $0, from: id) == id }
            // A hidden row may have given up its name (``ItemOperations/giveUpName(_:)``).
            let holder = try connection.item(withUniqueness: indexer.uniquenessToken(of: item))
            let isHome = try connection.findHome(item.home(generation: opened.generation), indexer) == home
            if Set(due) != Set(listed) || !hasEntries || !isHome || (holder != id && item.expires == nil) {
                report.misplaced.append(id)
            } else if let holder, holder != id {
                report.namesakes.append((id, holder))
            } else if holder == nil {
                report.nameless.append(id)
            }
        } catch let error as KeychainError where error.code == .decode {
            if try isOfRemovedPasscode(id, on: connection) {
                report.orphaned.append(id)
            } else {
                report.unreadable.append(id)
            }
        } catch let error as KeychainError where error.code == .interactionNotAllowed {
            report.locked += 1
        }
    }
}

extension ItemOperations {
    /// Whether a row may be left over from a removal of the passcode that destroyed its key and did not come to delete
    /// it.
    private func isOfRemovedPasscode(_ id: Int64, on connection: StoreConnection) throws -> Bool {
        guard keys.snapshot.bag.passcode == nil else { return false }
        return try connection.withRow(id) { row in
            try row.accessControl?.needsPasscode == true && isDestroyed(row, try connection.removal())
        } ?? false
    }
}

/// The result of a check of every row.
private struct RowReport {
    var unreadable: [Int64] = []
    var misplaced: [Int64] = []
    /// Rows that gave up their names while they were hidden, and the rows that have these names now.
    var namesakes: [(row: Int64, holder: Int64)] = []
    /// Rows that gave up their names, which no row has now.
    var nameless: [Int64] = []
    var strayEntries = 0
    /// Rows that were not examined because their key is locked.
    var locked = 0
    /// Rows that were stored for another set of fingers or faces than is enrolled now.
    var invalidated = 0
    /// Rows that a removal of the passcode may have left because it was cut short.
    var orphaned: [Int64] = []

    var findings: [StoreFinding] {
        var findings: [StoreFinding] = []
        if !unreadable.isEmpty {
            findings.add(
                .damage, "\(unreadable.listed) not open: damaged, edited or taken from another store",
                advice: "they are left out of every answer, and kept. Add the items anew, which replaces them, or "
                    + StoreFinding.repairAdvice,
                isRepairable: true)
        }
        if locked > 0 {
            findings.add(
                .note, "\(locked) \(locked == 1 ? "item is" : "items are") locked and could not be looked at",
                advice: "run 'keychainctl unlock', and then this again")
        }
        if invalidated > 0 {
            findings.add(
                .note,
                "\(invalidated) \(invalidated == 1 ? "item was" : "items were") stored for the fingers or faces that "
                    + "were enrolled then, and others are now: no answer has them any more",
                advice: "add them anew, which replaces them, or delete them")
        }
        if !orphaned.isEmpty {
            findings.add(
                .warning,
                "\(orphaned.listed) not open without a passcode, and none is set: "
                    + "left by a removal of the passcode that was cut short, or edited",
                advice: "they are left out of every answer, and 'keychainctl passcode set' removes them; "
                    + "put keychain.db back from a backup if nobody removed a passcode")
        }
        if !misplaced.isEmpty {
            findings.add(
                .damage, "\(misplaced.listed) not match the index, so that some searches do not find them",
                advice: StoreFinding.repairAdvice, isRepairable: true)
        }
        for (row, holder) in namesakes.prefix(10) {
            findings.add(
                .warning,
                "rows \(row) and \(holder) have one name: row \(row) was hidden as expired when the other was added, "
                    + "and the clock was set back since",
                advice: "both are kept and found. Delete the one that is not wanted")
        }
        if namesakes.count > 10 {
            findings.add(
                .warning, "\(namesakes.count - 10) more rows have the names of others",
                advice: "they are kept and found. Delete those that are not wanted")
        }
        if !nameless.isEmpty {
            findings.add(
                .warning,
                "\(nameless.listed) not have their names, which were given up while they were hidden as expired",
                advice: StoreFinding.repairAdvice, isRepairable: true)
        }
        if strayEntries > 0 {
            findings.add(
                .warning, "the index has \(strayEntries) entries without a row: rows were removed by other means",
                advice:
                    "if items are missing put keychain.db back from a backup; 'keychainctl doctor --repair' tidies up",
                isRepairable: true)
        }
        return findings
    }
}

extension [Int64] {
    /// "row 7 does" or "3 rows (7, 8, 9) do".
    fileprivate var listed: String {
        if count == 1 { return "row \(self[0]) does" }
        let numbers = prefix(10).map { "\($0)" }.joined(separator: ", ")
        return "\(count) rows (\(numbers)\(count > 10 ? ", …" : "")) do"
    }
}
