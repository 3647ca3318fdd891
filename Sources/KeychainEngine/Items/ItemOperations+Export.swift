internal import KeychainCrypto
internal import KeychainModel
internal import Logging

extension ItemOperations {
    /// A part of an export ends at so many rows, or so many bytes.
    private static let rowsPerPart = 2_000
    private static let bytesPerPart = 4 << 20

    /// Opens the next rows, with their secrets. Rows are met in the order of their ids, which an item keeps for its
    /// whole life: an item that is there all the time is met once, even if other items are changed or keys are renewed.
    ///
    /// - Throws: `.interactionNotAllowed` if an item that is to be exported is locked, since an export is complete.
    func export(_ request: ExportRequest) throws -> ExportedPart {
        try read { connection in
            let rows = try ExportedRows(request, operations: self, connection)
            var part = ExportedPart()
            var homes: [Int64: HomeKind] = [:]
            var bytes = 0
            var next = try rows.next(from: request.start)
            while let id = next, part.count < Self.rowsPerPart && bytes < Self.bytesPerPart {
                try requireMemory(forRow: id, withSecret: true, besides: bytes, of: Self.bytesPerPart, on: connection)
                bytes += try export(id, request, on: connection, &homes, to: &part)
                next = id < .max ? try rows.next(from: id + 1) : nil
            }
            part.next = next
            part.hasFiles = try request.isMove && connection.hasFiles()
            return part
        }
    }

    /// - Returns: the size of the item.
    private func export(
        _ id: Int64, _ request: ExportRequest, on connection: StoreConnection, _ homes: inout [Int64: HomeKind],
        to part: inout ExportedPart
    ) throws -> Int {
        do {
            guard let home = try homeOfExportable(id, request, on: connection, &part.leftOut) else { return 0 }
            let kind = try homes[home] ?? connection.kind(ofHome: home)
            homes[home] = kind
            guard let itemClass = kind?.itemClass, let item = try open(id, as: itemClass, on: connection) else {
                throw KeychainError(.decode, message: "a stored item is listed nowhere")
            }
            // Only edited tables list an item in another group's home.
            if let group = request.accessGroup, !item.accessGroup.isSameGroup(as: group) { return 0 }
            if item.isOfToken {
                part.leftOut.ofTokens += 1
            } else if (request.isMove ? item.flawInMove : item.flaw) != nil {
                part.leftOut.unreadable += 1
            } else {
                part.items.append(item)
            }
            return item.byteCount
        } catch let error as KeychainError where error.code == .decode {
            logger.warning("a stored item does not open and is not exported", metadata: ["row": "\(id)"])
            part.leftOut.unreadable += 1
            return 0
        }
    }

    /// The home of a row; nil if the row's unsealed part says that it is left out, which is counted. Such a row may be
    /// locked.
    private func homeOfExportable(
        _ id: Int64, _ request: ExportRequest, on connection: StoreConnection, _ leftOut: inout LeftOut
    ) throws -> Int64? {
        let row = try connection.withRow(id) { row in
            isExpired(row) ? nil : (home: row.home, control: try AccessControl(canonicalBytes: row.access))
        }
        guard case .some(.some(let row)) = row else { return nil }
        if row.control.protection.isThisDeviceOnly && !request.isMove {
            leftOut.thisDeviceOnly += 1
        } else if row.control.isConstrained,
            try !request.isMove || !authentication.permits(row.control, .read, .allow, hasPasscode: hasPasscode)
        {
            leftOut.constrained += 1
        } else {
            return row.home
        }
        return nil
    }

    private func open(_ id: Int64, as itemClass: ItemClass, on connection: StoreConnection) throws -> Item? {
        try connection.withRow(id, secrets: true) { row in
            try cipher.open(row, as: itemClass) { _ in .everything }?.item
        } ?? nil
    }
}

/// The rows of an export: all, or those in the homes of one group.
private struct ExportedRows {
    private let connection: StoreConnection
    /// nil: all rows.
    private let homes: [Int64]?

    /// - Throws: `.interactionNotAllowed` if the store was not unlocked since the system started, since the rows of the
    ///   group cannot be told then.
    init(_ request: ExportRequest, operations: ItemOperations, _ connection: StoreConnection) throws {
        self.connection = connection
        guard let group = request.accessGroup else {
            homes = nil
            return
        }
        var found: [Int64] = []
        for tier in IndexTier.allCases {
            guard let indexers = try operations.keys.indexers(for: tier) else {
                let hasItems = try ItemClass.stored.contains {
                    try connection.hasItems(of: $0, tier: tier, besides: operations.isExpired)
                }
                if hasItems { throw operations.keys.lockedError(.afterFirstUnlock) }
                continue
            }
            for (generation, indexer) in indexers {
                for itemClass in ItemClass.stored {
                    found += try connection.homes(
                        of: itemClass, tier: tier, generation: generation, in: .some([group]), synchronizable: .any,
                        indexer)
                }
            }
        }
        homes = found
    }

    func next(from id: Int64) throws -> Int64? {
        guard let homes else { return try connection.nextItem(from: id) }
        return try homes.compactMap { try connection.firstItem(inHome: $0, from: id) }.min()
    }
}
