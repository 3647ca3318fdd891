import Foundation
import KeychainTestSupport
import Testing

/// docs/architecture.md draws the way of a call as lists of functions. They are held to the sources.
@Suite struct ArchitectureTests {
    private struct Room {
        let function: String
        /// Of its file.
        let source: String

        var isThere: Bool { source.contains("func \(function)") }

        /// Whether a function of the file calls another room's.
        func calls(_ other: Room) throws -> Bool {
            source.replacing("func \(other.function)", with: "")
                .contains(try Regex("\\b\(other.function) *[({]").wordBoundaryKind(.simple))
        }
    }

    private static func walks() throws -> [(title: String, rooms: [Room])] {
        let document = try String(contentsOf: Repository.file("docs/architecture.md"), encoding: .utf8)
        return try document.components(separatedBy: "\n### ").dropFirst().map { section in
            let rooms = try section.matches(of: /\n[0-9]+\. `(\w+)` in `([^`]+)`/).map { match in
                Room(
                    function: String(match.1),
                    source: try String(contentsOf: Repository.file("Sources/\(match.2)"), encoding: .utf8))
            }
            return (String(section.prefix { $0 != "\n" }), rooms)
        }
    }

    @Test("The way of a call has at most a dozen rooms, and each is called by one before it")
    func ways() throws {
        let walks = try Self.walks()
        #expect(walks.count == 4)
        for (title, rooms) in walks {
            #expect((4...12).contains(rooms.count), "\(title)")
            for (index, room) in rooms.enumerated() {
                #expect(room.isThere, "\(title): there is no \(room.function)")
                guard index > 0 else { continue }
                #expect(
                    try rooms[..<index].contains { try $0.calls(room) },
                    "\(title): nothing before it calls \(room.function)")
            }
        }
    }
}
