extension WireLockStatus {
    init(_ status: LockStatus) {
        self.init()
        state = State(status.state)
        hasPasscode_p = status.hasPasscode
        keyPlace = KeyPlace(status.keyPlace)
        isWatched = status.isWatched
        if let limit = status.idleLimit { idleLimit = Int64(limit) }
        erasesAfterTenFailures = status.erasesAfterTenFailures
        failedAttempts = Int64(status.failedAttempts)
        secondsUntilNextAttempt = status.secondsUntilNextAttempt
        isRekeying = status.isRekeying
        epoch = status.epoch
        isLocking = status.isLocking
        isWithinGrace = status.isWithinGrace
    }
}

extension LockStatus {
    init(_ wire: WireLockStatus) throws(KeychainError) {
        self.init(
            state: try LockState(wire.state), hasPasscode: wire.hasPasscode_p, keyPlace: try KeyPlace(wire.keyPlace),
            isWatched: wire.isWatched, idleLimit: wire.hasIdleLimit ? try Int(wireCount: wire.idleLimit) : nil,
            erasesAfterTenFailures: wire.erasesAfterTenFailures,
            failedAttempts: try Int(wireCount: wire.failedAttempts),
            secondsUntilNextAttempt: try Double(wireTime: wire.secondsUntilNextAttempt), isRekeying: wire.isRekeying,
            epoch: wire.epoch, isLocking: wire.isLocking, isWithinGrace: wire.isWithinGrace)
    }
}

extension WireLockStatus.State {
    fileprivate init(_ state: LockState) {
        self =
            switch state {
            case .neverUnlocked: .neverUnlocked
            case .unlocked: .unlocked
            case .locked: .locked
            }
    }
}

extension LockState {
    fileprivate init(_ wire: WireLockStatus.State) throws(KeychainError) {
        switch wire {
        case .neverUnlocked: self = .neverUnlocked
        case .unlocked: self = .unlocked
        case .locked: self = .locked
        case .unspecified, .UNRECOGNIZED: throw .unknown("state of a lock", wire.rawValue)
        }
    }
}

extension WireLockStatus.KeyPlace {
    fileprivate init(_ place: LockStatus.KeyPlace) {
        self =
            switch place {
            case .keyring: .keyring
            case .process: .process
            case .daemon: .daemon
            }
    }
}

extension LockStatus.KeyPlace {
    fileprivate init(_ wire: WireLockStatus.KeyPlace) throws(KeychainError) {
        switch wire {
        case .keyring: self = .keyring
        case .process: self = .process
        case .daemon: self = .daemon
        case .unspecified, .UNRECOGNIZED: throw .unknown("place of keys", wire.rawValue)
        }
    }
}
