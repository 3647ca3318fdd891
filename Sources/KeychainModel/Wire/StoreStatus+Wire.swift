internal import Foundation
internal import SwiftProtobuf

// What is said of a store as a whole.

extension WireStoreStatus {
    init(_ status: StoreStatus) {
        self.init()
        storePath = status.storePath
        storeID = status.storeID.wireBytes
        schemaVersion = Int64(status.schemaVersion)
        itemCounts = status.itemCounts.sorted { $0.key.number < $1.key.number }.map { itemClass, count in
            .with {
                $0.itemClass = WireItemClass(itemClass)
                $0.count = Int64(count)
            }
        }
        bytesOnDisk = status.bytesOnDisk
        switch status.deviceKey {
        case .file(let path): deviceKeyFile = path
        case .credential(let path): deviceKeyCredential = path
        }
        keyMemory = KeyMemory(status.keyMemory)
        lock = WireLockStatus(status.lock)
    }
}

extension StoreStatus {
    init(_ wire: WireStoreStatus) throws(KeychainError) {
        var itemCounts: [ItemClass: Int] = [:]
        for entry in wire.itemCounts { itemCounts[try ItemClass(entry.itemClass)] = try Int(wireCount: entry.count) }
        self.init(
            storePath: wire.storePath, storeID: try UUID(wireBytes: wire.storeID),
            schemaVersion: try Int(wireCount: wire.schemaVersion), itemCounts: itemCounts,
            bytesOnDisk: Int64(try Int(wireCount: wire.bytesOnDisk)), deviceKey: try DeviceKeyOrigin(wire.deviceKey),
            keyMemory: try KeyMemoryKind(wire.keyMemory), lock: try LockStatus(wire.lock))
    }
}

extension WireStoreStatus.KeyMemory {
    fileprivate init(_ kind: KeyMemoryKind) {
        self =
            switch kind {
            case .secret: .secret
            case .locked: .locked
            case .ordinary: .ordinary
            }
    }
}

extension KeyMemoryKind {
    fileprivate init(_ wire: WireStoreStatus.KeyMemory) throws(KeychainError) {
        switch wire {
        case .secret: self = .secret
        case .locked: self = .locked
        case .ordinary: self = .ordinary
        case .unspecified, .UNRECOGNIZED: throw .unknown("kind of memory", wire.rawValue)
        }
    }
}

extension DeviceKeyOrigin {
    fileprivate init(_ wire: WireStoreStatus.OneOf_DeviceKey?) throws(KeychainError) {
        switch wire {
        case .deviceKeyFile(let path): self = .file(path)
        case .deviceKeyCredential(let path): self = .credential(path)
        case nil: throw KeychainError(.parameter, message: "the status does not say where the device key is")
        }
    }
}

extension WireFinding {
    init(_ finding: StoreFinding) {
        self.init()
        severity =
            switch finding.severity {
            case .note: .note
            case .warning: .warning
            case .damage: .damage
            }
        text = finding.text
        advice = finding.advice
        isRepairable = finding.isRepairable
    }
}

extension StoreFinding {
    init(_ wire: WireFinding) throws(KeychainError) {
        self.init(
            try Severity(wire.severity), wire.text, advice: wire.advice, isRepairable: wire.isRepairable)
    }
}

extension StoreFinding.Severity {
    fileprivate init(_ wire: WireFinding.Severity) throws(KeychainError) {
        switch wire {
        case .note: self = .note
        case .warning: self = .warning
        case .damage: self = .damage
        case .unspecified, .UNRECOGNIZED: throw .unknown("severity", wire.rawValue)
        }
    }
}

extension RekeyProgress {
    init(_ wire: WireRekeyProgress) throws(KeychainError) {
        self.init(
            done: try Int(wireCount: wire.done), total: try Int(wireCount: wire.total), isFinished: wire.isFinished)
    }
}

extension WireRekeyProgress {
    init(_ progress: RekeyProgress) {
        self.init()
        done = Int64(progress.done)
        total = Int64(progress.total)
        isFinished = progress.isFinished
    }
}
