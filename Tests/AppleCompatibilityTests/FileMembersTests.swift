import Foundation
import Testing

@testable import AppleCompatibilityGenerator

@Suite struct FileMembersTests {
    /// "Type.name(labels:)" of every member, in the order of the text.
    private static func names(in text: String) -> [String] {
        var names: [String] = []
        for part in text.components(separatedBy: "nonisolated extension ").dropFirst() {
            let type = part.prefix { $0 != " " }
            for member in part.components(separatedBy: "@_disfavoredOverload").dropFirst() {
                guard let name = member.firstMatch(of: /func (\w+)|init/) else { continue }
                let signature = member[name.range.upperBound...].prefix { $0 != "{" }
                let labels = signature.matches(of: /[(,]\s*(\w+)(?: \w+)?:/).map { "\($0.output.1):" }.joined()
                names.append("\(type).\(name.output.1 ?? "init")(\(labels))")
            }
        }
        return names
    }

    @Test("A name is made of the type, the member and its labels")
    func form() {
        let text = """
            nonisolated extension URL {
                @_disfavoredOverload
                @discardableResult
                func write<T: Text>(
                    _ values: [Key: Any], toFile path: T, atomically: Bool = false
                ) throws {
                    write(at: 1, to: 2)
                }
                @_disfavoredOverload
                convenience init?(contentsOf url: __shared URL) {}
            }
            """
        #expect(Self.names(in: text) == ["URL.write(_:toFile:atomically:)", "URL.init(contentsOf:)"])
    }

    @Test("Every member is used by the program that looks at what it leaves on the disk")
    func membersAreUsed() throws {
        let members = Self.names(in: FileMembers.text)
        #expect(members.count == FileMembers.text.components(separatedBy: "@_disfavoredOverload").count - 1)
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let program = try String(
            contentsOf: tests.appendingPathComponent("Outside/Sources/FoundationMembers/Members.swift"),
            encoding: .utf8)
        let used = program.matches(of: /tell\(\s*"(\w+\.\w+\([\w:]*\))"/).map { String($0.output.1) }
        #expect(used.sorted() == members.sorted())
    }
}
