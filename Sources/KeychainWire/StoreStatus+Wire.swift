internal import KeychainModel

// The facts of a store as a whole.

extension LockStatus: WireMessage {
    func write(to message: inout MessageWriter) {
        message.add(1, state)
        message.add(2, hasPasscode)
        message.add(3, keyPlace)
        message.add(4, isWatched)
        message.add(5, ifAny: idleLimit.map { WireCount($0) })
        message.add(6, erasesAfterTenFailures)
        message.add(7, count: failedAttempts)
        message.add(8, secondsUntilNextAttempt)
        message.add(9, isRekeying)
        message.add(10, epoch)
        message.add(11, isLocking)
        message.add(12, isWithinGrace)
        message.add(13, ifAny: WireCount(timeAfterLock))
        message.add(14, ifAny: timeLeftAfterLock.map { WireCount($0) })
    }

    init(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError) {
        let idleLimit: WireCount? = try message.value(5)
        let timeAfterLock: WireCount? = try message.value(13)
        let timeLeft: WireCount? = try message.value(14)
        self.init(
            state: try required(message.value(1)), hasPasscode: try message.value(2) ?? false,
            keyPlace: try required(message.value(3)), isWatched: try message.value(4) ?? false,
            idleLimit: idleLimit?.value, erasesAfterTenFailures: try message.value(6) ?? false,
            failedAttempts: try message.count(7), secondsUntilNextAttempt: try message.time(8) ?? 0,
            isRekeying: try message.value(9) ?? false, epoch: try message.value(10) ?? 0,
            isLocking: try message.value(11) ?? false, isWithinGrace: try message.value(12) ?? false,
            timeAfterLock: timeAfterLock?.value ?? PasscodePolicy.usualTimeAfterLock,
            timeLeftAfterLock: timeLeft?.value)
    }
}

extension StoreStatus: WireMessage {
    func write(to message: inout MessageWriter) {
        message.add(1, storePath)
        message.add(2, storeID)
        message.add(3, count: schemaVersion)
        for (itemClass, count) in itemCounts.sorted(by: { $0.key.number < $1.key.number }) {
            message.add(4, message: ItemCount(itemClass: itemClass, count: count))
        }
        message.add(5, bytesOnDisk)
        switch deviceKey {
        case .file(let path): message.add(6, ifAny: path)
        case .credential(let path): message.add(7, ifAny: path)
        }
        message.add(8, keyMemory)
        message.add(9, message: lock)
        message.add(10, count: knownSchemaVersion)
        message.add(11, leastRelease)
    }

    init(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError) {
        let counts: [ItemCount] = try message.list(4, &tail)
        self.init(
            storePath: try message.shownText(1), storeID: try required("store's identifier", message.value(2)),
            schemaVersion: try message.count(3), knownSchemaVersion: try message.count(10),
            leastRelease: try message.shownText(11),
            itemCounts: Dictionary(counts.map { ($0.itemClass, $0.count) }) { $1 },
            bytesOnDisk: Int64(try message.count(5)), deviceKey: try DeviceKeyOrigin(message),
            keyMemory: try required(message.value(8)),
            lock: try LockStatus(try required("lock", message.value(9)), &tail))
    }
}

private struct ItemCount: WireMessage {
    let itemClass: ItemClass
    let count: Int

    init(itemClass: ItemClass, count: Int) {
        self.itemClass = itemClass
        self.count = count
    }

    func write(to message: inout MessageWriter) {
        message.add(1, itemClass)
        message.add(2, count: count)
    }

    init(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError) {
        itemClass = try required(message.value(1))
        count = try message.count(2)
    }
}

extension DeviceKeyOrigin {
    fileprivate init(_ message: MessageReader) throws(KeychainError) {
        if let path: String = try message.value(6) {
            self = .file(path)
        } else {
            self = .credential(try required("device key", message.value(7)))
        }
    }
}

extension StoreFinding: WireMessage {
    func write(to message: inout MessageWriter) {
        message.add(1, severity)
        message.add(2, text)
        message.add(3, advice)
        message.add(4, isRepairable)
    }

    init(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError) {
        self.init(
            try required(message.value(1)), try message.shownText(2), advice: try message.shownText(3),
            isRepairable: try message.value(4) ?? false)
    }
}

extension RekeyProgress: WireMessage {
    func write(to message: inout MessageWriter) {
        message.add(1, count: done)
        message.add(2, count: total)
        message.add(3, isFinished)
    }

    init(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError) {
        self.init(
            done: try message.count(1), total: try message.count(2), isFinished: try message.value(3) ?? false)
    }
}
