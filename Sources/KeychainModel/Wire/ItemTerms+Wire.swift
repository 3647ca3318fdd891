internal import Foundation

// The words that describe items, each as the number that stands for it.

extension KeychainError {
    /// A number that stands for nothing here.
    static func unknown(_ term: String, _ number: Int) -> KeychainError {
        KeychainError(.parameter, message: "there is no \(term) of number \(number)")
    }
}

extension WireItemClass {
    init(_ itemClass: ItemClass) {
        self =
            switch itemClass {
            case .genericPassword: .genericPassword
            case .internetPassword: .internetPassword
            case .certificate: .certificate
            case .key: .key
            case .identity: .identity
            }
    }
}

extension ItemClass {
    init(_ wire: WireItemClass) throws(KeychainError) {
        switch wire {
        case .genericPassword: self = .genericPassword
        case .internetPassword: self = .internetPassword
        case .certificate: self = .certificate
        case .key: self = .key
        case .identity: self = .identity
        case .unspecified, .UNRECOGNIZED: throw .unknown("item class", wire.rawValue)
        }
    }
}

extension WireProtection {
    init(_ protection: Protection) {
        self =
            switch protection {
            case .whenUnlocked: .whenUnlocked
            case .afterFirstUnlock: .afterFirstUnlock
            case .always: .always
            case .whenUnlockedThisDeviceOnly: .whenUnlockedThisDeviceOnly
            case .afterFirstUnlockThisDeviceOnly: .afterFirstUnlockThisDeviceOnly
            case .alwaysThisDeviceOnly: .alwaysThisDeviceOnly
            case .whenPasscodeSetThisDeviceOnly: .whenPasscodeSetThisDeviceOnly
            }
    }
}

extension Protection {
    init(_ wire: WireProtection) throws(KeychainError) {
        switch wire {
        case .whenUnlocked: self = .whenUnlocked
        case .afterFirstUnlock: self = .afterFirstUnlock
        case .always: self = .always
        case .whenUnlockedThisDeviceOnly: self = .whenUnlockedThisDeviceOnly
        case .afterFirstUnlockThisDeviceOnly: self = .afterFirstUnlockThisDeviceOnly
        case .alwaysThisDeviceOnly: self = .alwaysThisDeviceOnly
        case .whenPasscodeSetThisDeviceOnly: self = .whenPasscodeSetThisDeviceOnly
        case .unspecified, .UNRECOGNIZED: throw .unknown("protection", wire.rawValue)
        }
    }
}

extension AccessControl {
    init(_ protection: WireProtection, flags: UInt32, _ extensionBytes: Data) throws(KeychainError) {
        try self.init(Protection(protection), flags: Flags(rawValue: flags), extensionBytes: extensionBytes)
    }

    /// - Parameter protection: nil: there is no access control.
    static func ifAny(
        _ protection: WireProtection?, flags: UInt32, _ extensionBytes: Data
    ) throws(KeychainError) -> AccessControl? {
        if let protection { return try AccessControl(protection, flags: flags, extensionBytes) }
        guard flags == 0, extensionBytes.isEmpty else {
            throw KeychainError(.parameter, message: "there are flags of an access control, and no protection")
        }
        return nil
    }
}

extension WireQuery.Synchronizable {
    init(_ synchronizable: ItemQuery.Synchronizable) {
        self =
            switch synchronizable {
            case .no: .no
            case .yes: .yes
            case .any: .any
            }
    }
}

extension ItemQuery.Synchronizable {
    init(_ wire: WireQuery.Synchronizable) throws(KeychainError) {
        switch wire {
        case .no: self = .no
        case .yes: self = .yes
        case .any: self = .any
        case .UNRECOGNIZED: throw .unknown("synchronizability", wire.rawValue)
        }
    }
}

extension WireQuery.AuthenticationUI {
    init(_ ui: ItemQuery.AuthenticationUI) {
        self =
            switch ui {
            case .allow: .allow
            case .fail: .fail
            case .skip: .skip
            }
    }
}

extension ItemQuery.AuthenticationUI {
    init(_ wire: WireQuery.AuthenticationUI) throws(KeychainError) {
        switch wire {
        case .allow: self = .allow
        case .fail: self = .fail
        case .skip: self = .skip
        case .UNRECOGNIZED: throw .unknown("way to ask a person", wire.rawValue)
        }
    }
}

extension UUID {
    var wireBytes: Data { withUnsafeBytes(of: uuid) { Data($0) } }

    /// - Throws: `.parameter` unless there are sixteen bytes.
    init(wireBytes: Data) throws(KeychainError) {
        guard wireBytes.count == 16 else {
            throw KeychainError(.parameter, message: "an identifier has \(wireBytes.count) bytes, 16 expected")
        }
        self.init(uuid: wireBytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
    }
}
