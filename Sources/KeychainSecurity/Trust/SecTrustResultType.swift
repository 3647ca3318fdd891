/// The outcome of an evaluation of trust.
public enum SecTrustResultType: UInt32, Sendable {
    /// There was no evaluation.
    case invalid = 0
    /// Trusted, because the exceptions that were set excuse all flaws (``SecTrustSetExceptions(_:_:)``).
    case proceed = 1
    /// Apple's keychain no longer has this outcome.
    @available(*, deprecated, message: "no evaluation ends so")
    case confirm = 2
    /// Not trusted, because a person said so. No evaluation ends so here.
    case deny = 3
    /// Trusted, because the chain leads to an anchor.
    case unspecified = 4
    /// Not trusted, for reasons that an exception could excuse.
    case recoverableTrustFailure = 5
    /// Not trusted, for a reason that nothing excuses.
    case fatalTrustFailure = 6
    /// The evaluation itself failed. No evaluation ends so here.
    case otherError = 7
}

/// A Boolean, as C functions of Apple's systems hand it over.
public struct DarwinBoolean: Sendable, Hashable, ExpressibleByBooleanLiteral {
    /// The Swift value.
    public var boolValue: Bool

    /// Makes one of a Swift value.
    public init(_ value: Bool) { boolValue = value }

    /// Makes one of `true` or `false`.
    public init(booleanLiteral value: Bool) { boolValue = value }
}
