/// The keys within reach (docs/key-hierarchy.md).
package enum LockState: String, Sendable, Hashable, CaseIterable {
    /// The store was not unlocked since the system started: only items that are "always" accessible open.
    case neverUnlocked = "never-unlocked"
    case unlocked
    /// Items that are accessible "after first unlock" or "always" open.
    case locked
}

/// Everything there is to say about a store's lock.
package struct LockStatus: Sendable, Hashable {
    package enum KeyPlace: String, Sendable, Hashable {
        /// In the kernel's keyring of the user: one unlock serves every process of the user.
        case keyring
        /// In the process that unlocked, because the kernel refuses keyrings here.
        case process
        /// In the memory of the user's daemon, until it ends.
        case daemon
    }

    package var state: LockState
    /// Without one the store is never locked.
    package var hasPasscode: Bool
    package var keyPlace: KeyPlace
    /// Whether a watcher locks the store when the session is locked or the system sleeps.
    package var isWatched: Bool
    /// Seconds without use after which the store locks itself; nil: never.
    package var idleLimit: Int?
    package var erasesAfterTenFailures: Bool
    /// Wrong passcodes since the last right one.
    package var failedAttempts: Int
    /// Until then no passcode is looked at; 0: one may be tried now.
    package var secondsUntilNextAttempt: Double
    /// A renewal of all keys is under way, or was interrupted.
    package var isRekeying: Bool
    /// Changes with every lock, unlock and announcement of a lock.
    package var epoch: UInt64
    /// A lock was announced, and follows within ``noticeLength``: as soon as no listener is left.
    package var isLocking: Bool
    /// Calls that had begun before the last lock may go on.
    package var isWithinGrace: Bool
    /// Seconds for which files of the class "when user inactive" stay open after a lock.
    package var timeAfterLock: Int
    /// The seconds that are left of that time, rounded up; nil: the store is unlocked, or the time is over.
    package var timeLeftAfterLock: Int?

    /// How long calls in progress may go on after a lock that leaves them time (docs/key-hierarchy.md, "Lock and unlock").
    package static let graceLength = Duration.seconds(10)

    /// A lock waits at most so long for its listeners. If a lock for now follows, a system that is about to sleep waits
    /// longer: five seconds, unless it is told otherwise.
    package static let noticeLength = Duration.seconds(3)

    package init(
        state: LockState, hasPasscode: Bool, keyPlace: KeyPlace, isWatched: Bool, idleLimit: Int?,
        erasesAfterTenFailures: Bool, failedAttempts: Int, secondsUntilNextAttempt: Double, isRekeying: Bool,
        epoch: UInt64, isLocking: Bool = false, isWithinGrace: Bool = false,
        timeAfterLock: Int = PasscodePolicy.usualTimeAfterLock, timeLeftAfterLock: Int? = nil
    ) {
        self.state = state
        self.hasPasscode = hasPasscode
        self.keyPlace = keyPlace
        self.isWatched = isWatched
        self.idleLimit = idleLimit
        self.erasesAfterTenFailures = erasesAfterTenFailures
        self.failedAttempts = failedAttempts
        self.secondsUntilNextAttempt = secondsUntilNextAttempt
        self.isRekeying = isRekeying
        self.epoch = epoch
        self.isLocking = isLocking
        self.isWithinGrace = isWithinGrace
        self.timeAfterLock = timeAfterLock
        self.timeLeftAfterLock = timeLeftAfterLock
    }
}

extension LockStatus {
    /// The classes whose open files are closed now.
    package var closedClasses: [FileClass] {
        FileClass.allCases.filter { fileClass in
            fileClass.closesWithLock && state != .unlocked
                && !(fileClass.tier == .whenUserInactive && timeLeftAfterLock != nil)
        }
    }
}

package enum LockRequest: Sendable, Hashable {
    /// Listeners have a moment to finish (``LockStatus/noticeLength``). Then new calls are refused at once, and those
    /// in progress have ten seconds to end.
    case withGrace
    /// Without notice, and those in progress are refused too, as soon as they look.
    case now
}

/// The changes of the passcode. Each old passcode counts as an attempt.
package enum PasscodeRequest: Sendable {
    /// The first one. All keys are made anew: go on with ``Request/rekeyStep`` until it is done.
    case set(SecretBytes)
    /// - rekey: Whether all keys are made anew too, as after a first one.
    case change(old: SecretBytes, new: SecretBytes, rekey: Bool)
    /// Destroys every item that is there only while a passcode is set.
    case remove(old: SecretBytes)
    case setPolicy(PasscodePolicy, passcode: SecretBytes)
}

/// The consequences of disuse and of wrong passcodes.
package struct PasscodePolicy: Sendable, Hashable {
    /// Seconds; nil: the store does not lock itself for lack of use.
    package var idleLimit: Int?
    package var erasesAfterTenFailures: Bool
    /// Seconds for which files of the class "when user inactive" stay open after a lock. nil: the usual time; in a
    /// request, the present one.
    package var timeAfterLock: Int?

    /// The possible idle limits, in seconds: up to a leap year.
    package static let idleLimits = 1...(366 * 24 * 3600)
    /// The possible times after a lock, in seconds: up to a day.
    package static let timesAfterLock = 0...(24 * 3600)
    package static let usualTimeAfterLock = 600

    package init(idleLimit: Int? = nil, erasesAfterTenFailures: Bool = false, timeAfterLock: Int? = nil) {
        self.idleLimit = idleLimit
        self.erasesAfterTenFailures = erasesAfterTenFailures
        self.timeAfterLock = timeAfterLock
    }

    package var secondsAfterLock: Int { timeAfterLock ?? Self.usualTimeAfterLock }

    /// - Throws: `.parameter` for times that no store can have.
    package func requireTimes() throws(KeychainError) {
        if let idleLimit, !Self.idleLimits.contains(idleLimit) { throw .invalidIdleLimit }
        if let timeAfterLock, !Self.timesAfterLock.contains(timeAfterLock) { throw .invalidTimeAfterLock }
    }
}

extension KeychainError {
    package static var neverLocked: KeychainError {
        KeychainError(
            .noPasscode,
            message: "no passcode is set, so this keychain is never locked: 'keychainctl passcode set' sets one")
    }

    package static var passcodeIsSet: KeychainError {
        KeychainError(.duplicateItem, message: "a passcode is set already: change it, or remove it first")
    }

    package static var invalidIdleLimit: KeychainError {
        KeychainError(.parameter, message: "an idle limit is between a second and 366 days")
    }

    package static var invalidTimeAfterLock: KeychainError {
        KeychainError(.parameter, message: "the time after a lock is at most a day")
    }
}

/// How far a renewal of all keys has come.
package struct RekeyProgress: Sendable, Hashable {
    /// Rows that need nothing more.
    package var done: Int
    package var total: Int
    /// Whether nothing is left to do. If ``done`` is less than ``total`` then, the others do not open, and the former keys are kept.
    package var isFinished: Bool

    package init(done: Int, total: Int, isFinished: Bool) {
        self.done = done
        self.total = total
        self.isFinished = isFinished
    }
}
