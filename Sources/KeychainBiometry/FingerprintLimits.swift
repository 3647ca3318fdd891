/// How long a reader waits, and how often it looks.
package struct FingerprintLimits: Sendable {
    /// For an answer of fprintd, which may have to start first.
    package var answer = Duration.seconds(8)
    /// The time for a person to touch the reader, anew after each touch.
    package var touch = Duration.seconds(30)
    /// For fprintd to say which finger it wants, before the person is asked for any.
    package var selection = Duration.seconds(1)
    /// The time for the reader's release, whose result is not needed any more.
    package var release = Duration.seconds(3)
    /// How many fingers may fail to match.
    package var attempts = 3

    package init() {}
}
