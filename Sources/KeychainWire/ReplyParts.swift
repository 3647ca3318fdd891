package import KeychainModel

// Answers that are too large for one frame.

extension DaemonMessage {
    /// Calls `body` with the frames that together carry a reply. None has much more than `limit` bytes, unless a single
    /// item has. Each is made when the one before it was dealt with, so that they are not in memory all at once.
    package static func forEachFrame<E: Error>(
        of reply: Reply, id: UInt64, limit: Int = 256 << 10, _ body: (WireFrame) throws(E) -> Void
    ) throws(E) {
        switch reply {
        case .found(let items):
            try forEachPart(of: items, limit: limit) { part, isLast throws(E) in
                try body(DaemonMessage.reply(id: id, .found(part), isLast: isLast).frame())
            }
        case .exported(let whole):
            try forEachPart(of: whole.items, limit: limit) { items, isLast throws(E) in
                var part = isLast ? whole : ExportedPart()
                part.items = items
                try body(DaemonMessage.reply(id: id, .exported(part), isLast: isLast).frame())
            }
        case .added, .resolved, .deleted, .committed, .keyResult, .expired, .done, .status, .checked, .lockStatus,
            .rekeyed,
            .imported,
            .fileKey,
            .fileKeyBackup,
            .authenticationStatus, .authenticationNeeded:
            try body(DaemonMessage.reply(id: id, reply, isLast: true).frame())
        }
    }

    /// There is at least one part, also without items.
    private static func forEachPart<E: Error>(
        of items: [Item], limit: Int, _ body: (_ part: [Item], _ isLast: Bool) throws(E) -> Void
    ) throws(E) {
        var start = 0
        repeat {
            var end = start
            var size = 0
            while end < items.count {
                size += items[end].wireSize
                if size > limit && end > start { break }
                end += 1
            }
            let isWhole = start == 0 && end == items.count
            try body(isWhole ? items : Array(items[start..<end]), end == items.count)
            start = end
        } while start < items.count
    }
}

extension Item {
    /// About how many bytes it takes in a frame, secrets included.
    fileprivate var wireSize: Int {
        // Class, identifier, access control and dates; and of each attribute its code and length.
        64 + accessControl.extensionBytes.count + accessGroup.utf8.count + attributes.byteCount + 7 * attributes.count
            + (secret?.count ?? 0)
            + (certificate?.count ?? 0)
    }
}

extension Reply {
    /// Adds a later part of the same answer.
    ///
    /// - Throws: `.decode` if the two are not parts of one.
    package mutating func append(_ part: Reply) throws(KeychainError) {
        // Taken out of itself first, so that the list is extended where it is.
        switch part {
        case .found(let more):
            guard case .found(var items) = self else { throw .foreignPart }
            self = .done
            items += more
            self = .found(items)
        case .exported(let more):
            guard case .exported(var whole) = self else { throw .foreignPart }
            self = .done
            whole.items += more.items
            whole.leftOut += more.leftOut
            whole.next = more.next
            whole.hasFiles = more.hasFiles
            self = .exported(whole)
        case .added, .resolved, .deleted, .committed, .keyResult, .expired, .done, .status, .checked, .lockStatus,
            .rekeyed,
            .imported,
            .fileKey,
            .fileKeyBackup,
            .authenticationStatus, .authenticationNeeded:
            throw .foreignPart
        }
    }
}

extension KeychainError {
    fileprivate static var foreignPart: KeychainError {
        KeychainError(.decode, message: "the daemon's answer has parts that do not belong together")
    }
}
