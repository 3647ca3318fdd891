internal import KeychainCrypto
internal import KeychainModel

extension Engine {
    func unlock(_ passcode: SecretBytes) throws -> LockStatus {
        try finishingErasure { try keys.unlock(passcode, isPairLost: hasSecretsSealedWithPasscode) }
        biometry.forgetFailures()
        return try keys.status()
    }

    func lock(_ request: LockRequest) throws {
        try keys.lock(request)
        // What was deleted or replaced should not outlast the session in the log.
        emptyLog()
    }

    func change(_ request: PasscodeRequest) throws -> Reply {
        switch request {
        case .set(let passcode):
            try store.requireIntact()
            // One that a removal of the passcode cut short; with a passcode there is nothing to set.
            if try keys.begin().snapshot.bag.passcode == nil {
                try items().deleteUnreachable()
                try finishPendingRekey()
            }
            try keys.setPasscode(passcode)
            return .rekeyed(try afterChange { try beginRekey() })
        case .change(let old, let new, let rekey):
            if rekey { try store.requireIntact() }
            try finishingErasure {
                try keys.changePasscode(
                    from: old, to: new, rekey: rekey, isPairLost: hasSecretsSealedWithPasscode)
            }
            return rekey ? .rekeyed(try afterChange { try beginRekey() }) : .done
        case .remove(let old):
            try store.requireIntact()
            try finishingErasure {
                if try items().hasItemsOfPasscode() {
                    // They are within reach only while unlocked.
                    try keys.unlock(old, isPairLost: hasSecretsSealedWithPasscode)
                    try items().noteRemoval()
                }
                try keys.removePasscode(old)
            }
            try afterChange {
                try items().deleteUnreachable()
                try finishPendingRekey()
            }
            emptyLog()
        case .setPolicy(let policy, let passcode):
            try finishingErasure { try keys.setPolicy(policy, passcode: passcode) }
        }
        return .done
    }

    func hasSecretsSealedWithPasscode() throws -> Bool {
        try store.read { try $0.itemsSealedWithPasscode().isEmpty == false }
    }

    /// What follows when the passcode is changed: whatever becomes of it, the request is not to be repeated, here or at
    /// another host.
    private func afterChange<R>(_ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch {
            var failure = KeychainError(engineFailure: error)
            guard failure.signal == .otherHost || failure.signal == .staleKeys else { throw failure }
            failure.message = "the passcode is changed, and the keys are not all renewed yet: \(failure.message)"
            failure.signal = nil
            throw failure
        }
    }

    /// If the attempt was the one that erases the store, removes what can never be opened again.
    func finishingErasure<R>(_ attempt: () throws -> R) throws -> R {
        let result = Result { try attempt() }
        if case .failure(let failure) = result, (failure as? KeychainError)?.code == .authenticationFailed,
            try keys.begin().snapshot.bag.passcode == nil
        {
            try finishPendingRekey()
        }
        return try result.get()
    }
}
