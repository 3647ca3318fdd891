import Foundation

/// The tool's command line: `--output FILE --kind executable|other [--import MODULE]… [--entitlements FILE]`.
///
/// Parsed by hand: a parser library would have to be built first in every client's package.
struct Arguments {
    let output: URL
    let kind: EntitlementsRecord.Kind
    private(set) var modules: [String] = []
    private(set) var entitlements: URL?

    init(_ words: ArraySlice<String>) throws {
        var output: URL?
        var kind: EntitlementsRecord.Kind?
        var rest = words
        while let option = rest.popFirst() {
            guard let value = rest.popFirst() else { throw GeneratorError("\(option) needs a value") }
            switch option {
            case "--output": output = URL(fileURLWithPath: value)
            case "--kind": kind = EntitlementsRecord.Kind(value)
            case "--import": modules.append(value)
            case "--entitlements": entitlements = URL(fileURLWithPath: value)
            default: throw GeneratorError("unknown option \(option)")
            }
        }
        guard let output, let kind else {
            throw GeneratorError("--output FILE and --kind executable|other are needed")
        }
        self.output = output
        self.kind = kind
    }
}
