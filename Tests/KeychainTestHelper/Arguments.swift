/// Words and options.
struct Arguments {
    private static let namesOfNumbers: Set = [
        "--stride", "--step", "--operations", "--clients", "--calls", "--kills", "--seconds",
    ]

    private(set) var words: [String] = []
    private(set) var numbers: [String: Int] = [:]
    private(set) var seed: UInt64?
    /// false: what is acknowledged need not stay.
    private(set) var isDurable = true
    /// Whether the stores of failed cases stay.
    private(set) var keeps = false

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--not-durable": isDurable = false
            case "--keep": keeps = true
            case "--seed": seed = try Self.number(rest.popFirst())
            case _ where Self.namesOfNumbers.contains(argument): numbers[argument] = try Self.number(rest.popFirst())
            case _ where argument.hasPrefix("--"): throw HelperFailure("unknown option \(argument)")
            default: words.append(argument)
            }
        }
    }

    static func number<N: FixedWidthInteger>(_ word: String?) throws -> N {
        guard let number = word.flatMap({ N($0) }), number >= 0 else {
            throw HelperFailure("\(word ?? "nothing") is no number")
        }
        return number
    }
}
