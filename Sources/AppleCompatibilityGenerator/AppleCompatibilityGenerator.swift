import Foundation

/// Writes the Swift file that the plugin of the same name adds to a client's target.
@main
struct AppleCompatibilityGenerator {
    static func main() {
        do {
            try run(Arguments(CommandLine.arguments.dropFirst()))
        } catch {
            FileHandle.standardError.write(Data("error: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run(_ arguments: Arguments) throws {
        let record = try arguments.entitlements.map { file in
            EntitlementsRecord(try Entitlements(contentsOf: file), kind: arguments.kind)
        }
        let source = GeneratedSource(modules: arguments.modules, record: record)
        try Data(source.text.utf8).write(to: arguments.output, options: .atomic)
    }
}
