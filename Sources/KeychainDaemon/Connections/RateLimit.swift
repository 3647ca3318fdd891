/// A bucket of tokens: as many requests as a second's share, and after a pause a burst (token bucket).
///
/// A client that comes too early is told how long to wait; nothing is refused.
struct RateLimit {
    let perSecond: Double
    let burst: Double
    private var tokens: Double
    private var last: SuspendingClock.Instant

    init(perSecond: Double, burst: Double, now: SuspendingClock.Instant) {
        self.perSecond = perSecond
        self.burst = burst
        tokens = burst
        last = now
    }

    /// Takes a token for a request.
    ///
    /// - Parameter ifAtOnce: Whether none is taken that does not count at once.
    /// - Returns: the time until the token counts; nil: it counts at once.
    mutating func take(at now: SuspendingClock.Instant, ifAtOnce: Bool = false) -> Duration? {
        tokens = min(burst, tokens + perSecond * (last.duration(to: now) / .seconds(1)))
        last = now
        if ifAtOnce && tokens < 1 { return .seconds((1 - tokens) / perSecond) }
        tokens -= 1
        return tokens < 0 ? .seconds(-tokens / perSecond) : nil
    }
}
