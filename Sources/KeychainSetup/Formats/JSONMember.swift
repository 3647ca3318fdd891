internal import FoundationEssentials

/// A member of a JSON object.
package struct JSONMember: Codable, Equatable {
    let key: String
    /// The value as JSON, like ``replaced``.
    let value: String
    /// The former value in the same place.
    let replaced: String?
    /// Whether the file had no object.
    let makesObject: Bool

    var line: String { Self.line(key, value) }
    var replacedLine: String? { replaced.map { Self.line(key, $0) } }

    private static func line(_ key: String, _ value: String) -> String { "\"\(key)\": \(value)" }

    private var object: Data { Data("{\n\t\(line)\n}\n".utf8) }

    func applied(to content: Data) throws -> Data {
        let text = try SetupFile.text(of: content)
        let isNothing = text.allSatisfy(\.isWhitespace)
        if isNothing && makesObject { return content + object }
        guard !isNothing, !makesObject, let object = JSONText(text), object.value(of: key) == replaced else {
            throw SetupFailure(message: "was changed by another program meanwhile")
        }
        return object.setting(key, to: value)
    }

    /// Takes back only the member, because the tool rewrites the file at any time.
    func takenBack(from content: Data) throws -> Data? {
        let text = try SetupFile.text(of: content)
        if text.allSatisfy(\.isWhitespace) { return nil }
        guard let object = JSONText(text), !object.isAmbiguous(key) else {
            throw SetupFailure(message: "is no JSON object with \(key) once at most any more")
        }
        guard object.value(of: key) == value else { return nil }
        if makesObject && content.suffix(self.object.count) == self.object {
            return content.dropLast(self.object.count)
        }
        return replaced.map { object.setting(key, to: $0) } ?? object.removing(key)
    }
}
