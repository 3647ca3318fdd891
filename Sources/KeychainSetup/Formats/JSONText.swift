internal import FoundationEssentials

/// The text of a JSON object, for changes that leave every other byte as it is.
struct JSONText {
    /// Any value. The decoder judges a string when it is asked for that one, so all are asked for.
    private struct AnyValue: Decodable {
        private struct Key: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue _: Int) { nil }
        }

        let isObject: Bool

        init(from decoder: any Decoder) throws {
            let object = try? decoder.container(keyedBy: Key.self)
            isObject = object != nil
            if let object {
                for key in object.allKeys { _ = try object.decode(AnyValue.self, forKey: key) }
            } else if var list = try? decoder.unkeyedContainer() {
                while !list.isAtEnd { _ = try list.decode(AnyValue.self) }
            } else {
                let value = try decoder.singleValueContainer()
                if value.decodeNil() { return }
                // Numbers, of which a decoder reads those alone that a type has, are judged by their text.
                do { _ = try value.decode(String.self) } catch DecodingError.typeMismatch {}
            }
        }
    }

    private struct Member {
        var key: String
        /// The place of the key's beginning.
        var start: Int
        var value: Range<Int>
    }

    private let bytes: [UInt8]
    private var members: [Member] = []

    /// nil: the text is no JSON object.
    init?(_ text: String) {
        bytes = Array(text.utf8)
        let value = try? JSONDecoder().decode(AnyValue.self, from: Data(bytes))
        guard value?.isObject == true, findMembers() else { return nil }
    }

    /// Finds the members in text that Foundation takes for a JSON object.
    ///
    /// - Returns: false: a list has a comma behind its last element, which Foundation reads and other programs do not, or a
    ///   number or a string has no form of JSON. Foundation does not look at those of a member that comes twice.
    private mutating func findMembers() -> Bool {
        var (depth, place) = (0, 0)
        /// The parts of the present member.
        var (key, start): (Range<Int>?, Int?) = (nil, nil)
        /// The last token.
        var last = 0..<0
        while place < bytes.count {
            let (byte, begin) = (bytes[place], place)
            switch byte {
            case UInt8(ascii: "\""): place = endOfString(from: place)
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): place = endOfNumber(from: place)
            default: place += 1
            }
            if !isWellFormed(begin..<place) { return false }
            if Self.isSpace(byte) { continue }
            let isEnd = "}]".utf8.contains(byte)
            if isEnd && bytes[last].first == UInt8(ascii: ",") { return false }
            if depth == 1, isEnd || byte == UInt8(ascii: ","), let name = key, let first = start {
                members.append(Member(key: string(name), start: name.lowerBound, value: first..<last.upperBound))
                (key, start) = (nil, nil)
            } else if depth == 1 && key == nil && byte == UInt8(ascii: "\"") {
                key = begin..<place
            } else if depth == 1 && start == nil && bytes[last].first == UInt8(ascii: ":") {
                start = begin
            }
            depth += "{[".utf8.contains(byte) ? 1 : isEnd ? -1 : 0
            last = begin..<place
        }
        return true
    }

    private func endOfNumber(from start: Int) -> Int {
        bytes[start...].firstIndex { !"+-.eE0123456789".utf8.contains($0) } ?? bytes.count
    }

    /// Whether a string has no bare control character, and a number the form of RFC 8259, section 6.
    private func isWellFormed(_ token: Range<Int>) -> Bool {
        switch bytes[token.lowerBound] {
        case UInt8(ascii: "\""): return bytes[token].allSatisfy { $0 >= 0x20 }
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            let text = String(decoding: bytes[token], as: UTF8.self)
            return text.wholeMatch(of: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/) != nil
        default: return true
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { " \t\n\r".utf8.contains(byte) }

    private func endOfString(from start: Int) -> Int {
        var place = start + 1
        while place < bytes.count, bytes[place] != UInt8(ascii: "\"") {
            place += bytes[place] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(place + 1, bytes.count)
    }

    /// A string without its quotes and escapes.
    private func string(_ range: Range<Int>) -> String {
        (try? JSONDecoder().decode(String.self, from: Data(bytes[range]))) ?? ""
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
        let space = String(decoding: bytes[start...].prefix { Self.isSpace($0) }, as: UTF8.self)
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
}
