internal import Foundation

/// The text of a JSON object, for changes that leave every other byte as it is.
struct JSONText {
    private struct Member {
        var key: String
        /// The place of the key's beginning.
        var start: Int
        var value: Range<Int>
    }

    private let bytes: [UInt8]
    private let members: [Member]

    /// nil: the text is no JSON object.
    init?(_ text: String) {
        let object = try? JSONSerialization.jsonObject(with: Data(text.utf8))
        guard object is [String: Any] else { return nil }
        bytes = Array(text.utf8)
        var scanner = Scanner(bytes: bytes)
        guard !scanner.hasCommaAtEnd() else { return nil }
        scanner.place = 0
        members = scanner.members()
    }

    func value(of key: String) -> String? {
        members.last { $0.key == key }.map { String(decoding: bytes[$0.value], as: UTF8.self) }
    }

    var isEmpty: Bool { members.isEmpty }

    /// Whether programs differ on the key's value: the key is there twice, or in other capitals, which Go ignores.
    func isAmbiguous(_ key: String) -> Bool {
        let alike = members.filter { $0.key.lowercased() == key.lowercased() }
        return alike.count > 1 || alike.contains { $0.key != key }
    }

    /// The text with a member that has this value.
    ///
    /// - Parameter value: The value as JSON.
    func setting(_ key: String, to value: String) -> Data {
        if let member = members.last(where: { $0.key == key }) { return replacing(member.value, with: value) }
        let start = (bytes.firstIndex(of: UInt8(ascii: "{")) ?? 0) + 1
        let member = "\"\(key)\": \(value)"
        if members.isEmpty { return replacing(start..<start, with: Self.soleStart + member + Self.soleEnd) }
        let space = String(decoding: bytes[start...].prefix { Scanner.isSpace($0) }, as: UTF8.self)
        return replacing(start..<start, with: space + member + ",")
    }

    /// The bytes around a member that was put into an empty object.
    private static let (soleStart, soleEnd) = ("\n\t", "\n")

    /// The text without a member, and without its comma and the space on that side.
    ///
    /// - Parameter key: A key that the object has.
    func removing(_ key: String) -> Data {
        guard let place = members.lastIndex(where: { $0.key == key }) else { return Data(bytes) }
        let member = members[place].start..<members[place].value.upperBound
        if place + 1 < members.count { return replacing(member.lowerBound..<members[place + 1].start) }
        if place > 0 { return replacing(members[place - 1].value.upperBound..<member.upperBound) }
        let isAlone =
            bytes[..<member.lowerBound].suffix(3).elementsEqual(("{" + Self.soleStart).utf8)
            && bytes[member.upperBound...].starts(with: Self.soleEnd.utf8)
        return replacing(
            isAlone
                ? member.lowerBound - Self.soleStart.utf8.count..<member.upperBound + Self.soleEnd.utf8.count : member)
    }

    private func replacing(_ range: Range<Int>, with text: String = "") -> Data {
        Data(bytes[..<range.lowerBound] + Array(text.utf8) + bytes[range.upperBound...])
    }

    /// Reads text that is known to be JSON.
    private struct Scanner {
        let bytes: [UInt8]
        var place = 0

        static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0a, 0x0d].contains(byte) }

        mutating func members() -> [Member] {
            var found: [Member] = []
            skip { $0 != UInt8(ascii: "{") }
            place += 1
            while true {
                skip { Self.isSpace($0) || $0 == UInt8(ascii: ",") }
                guard place < bytes.count, bytes[place] == UInt8(ascii: "\"") else { return found }
                let begin = place
                let key = string()
                skip { Self.isSpace($0) || $0 == UInt8(ascii: ":") }
                let start = place
                skipValue()
                found.append(Member(key: key, start: begin, value: start..<place))
            }
        }

        /// Foundation reads a list whose last element has a comma behind it. Other programs do not.
        mutating func hasCommaAtEnd() -> Bool {
            var last: UInt8 = 0
            while place < bytes.count {
                let byte = bytes[place]
                if last == UInt8(ascii: ","), byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") { return true }
                if !Self.isSpace(byte) { last = byte }
                if byte == UInt8(ascii: "\"") { _ = string() } else { place += 1 }
            }
            return false
        }

        private mutating func skip(while isSkipped: (UInt8) -> Bool) {
            while place < bytes.count, isSkipped(bytes[place]) { place += 1 }
        }

        private mutating func skipValue() {
            var depth = 0
            while place < bytes.count {
                switch bytes[place] {
                case UInt8(ascii: "\""): _ = string()
                case UInt8(ascii: "{"), UInt8(ascii: "["):
                    depth += 1
                    place += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    if depth == 0 { return }
                    depth -= 1
                    place += 1
                case UInt8(ascii: ",") where depth == 0: return
                case let byte where depth == 0 && Self.isSpace(byte): return
                default: place += 1
                }
                if depth == 0, place > 0,
                    [UInt8(ascii: "\""), UInt8(ascii: "}"), UInt8(ascii: "]")].contains(bytes[place - 1])
                {
                    return
                }
            }
        }

        /// Takes a string, and decodes its escapes.
        private mutating func string() -> String {
            let start = place
            place += 1
            while place < bytes.count, bytes[place] != UInt8(ascii: "\"") {
                place += bytes[place] == UInt8(ascii: "\\") ? 2 : 1
            }
            place = min(place + 1, bytes.count)
            let text = Data(bytes[start..<place])
            let decoded = try? JSONSerialization.jsonObject(with: text, options: .fragmentsAllowed)
            return decoded as? String ?? ""
        }
    }
}
