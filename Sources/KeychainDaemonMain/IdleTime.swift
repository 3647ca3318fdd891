internal import ArgumentParser

/// How long the daemon may go unused: a number with s, m or h, or "none".
struct IdleTime: ExpressibleByArgument, Equatable, CustomStringConvertible {
    static let none = IdleTime(seconds: nil)

    private static let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600]
    /// The longest time for poll(2), which counts milliseconds.
    private static let mostSeconds: Int64 = 24 * 24 * 3600

    private let seconds: Int64?

    var duration: Duration? { seconds.map { .seconds($0) } }
    var description: String { seconds.map { "\($0)s" } ?? "none" }

    private init(seconds: Int64?) { self.seconds = seconds }

    init?(argument: String) {
        if argument == "none" {
            self = .none
            return
        }
        guard let unit = argument.last.flatMap({ Self.units[$0] }), let count = Int64(argument.dropLast()),
            (1...Self.mostSeconds).contains(count), count * unit <= Self.mostSeconds
        else { return nil }
        seconds = count * unit
    }
}
