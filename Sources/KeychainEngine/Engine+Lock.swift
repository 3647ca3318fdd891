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
        // Deleted or replaced content should not outlast the session in the log.
        emptyLog()
    }

    func change(_ request: PasscodeRequest) throws -> Reply {
        switch request {
        case .set(let passcode):
            try store.requireIntact()
            // A removal of the passcode that was cut short is finished first.
            if try keys.begin().snapshot.bag.passcode == nil {
                try items().deleteUnreachable()
                try finishPendingRekey()
            }
            try keys.setPasscode(passcode)
            return .rekeyed(told(try afterChange { try beginRekey() }))
        case .change(let old, let new, let rekey):
            if rekey { try store.requireIntact() }
            try finishingErasure {
                try keys.changePasscode(
                    from: old, to: new, rekey: rekey, isPairLost: hasSecretsSealedWithPasscode)
            }
            return rekey ? .rekeyed(told(try afterChange { try beginRekey() })) : .done
        case .remove(let old):
            try store.requireIntact()
            try finishingErasure {
                if try items().hasItemsOfPasscode() {
                    // The items of the passcode are within reach only while the store is unlocked.
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
        case .setPolicy(let policy, _) where policy.erasesAfterTenFailures && configuration.host == .system:
            throw KeychainError(
                .unimplemented,
                message: "any program of the user may try a passcode, and ten wrong ones would erase the items of all")
        case .setPolicy(let policy, let passcode):
            try finishingErasure { try keys.setPolicy(policy, passcode: passcode) }
        }
        return .done
    }

    func hasSecretsSealedWithPasscode() throws -> Bool {
        try store.read { try $0.itemsSealedWithPasscode().isEmpty == false }
    }

    /// Runs the rest of a change of the passcode. After an error of it the request is not repeated, here or at
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

    /// If the attempt was the one that erases the store, removes the items that can never be opened again.
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
