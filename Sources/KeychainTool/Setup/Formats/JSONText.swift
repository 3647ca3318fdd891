internal import Foundation

/// The text of a JSON object, for changes that leave every other byte as it is.
struct JSONText {
    private struct Member {
        var key: String
        var value: Range<Int>
    }

    private let bytes: [UInt8]
    private let members: [Member]

    /// nil: it is no JSON object.
    init?(_ text: String) {
        let object = try? JSONSerialization.jsonObject(with: Data(text.utf8))
        guard object is [String: Any] else { return nil }
        bytes = Array(text.utf8)
        var scanner = Scanner(bytes: bytes)
        members = scanner.members()
    }

    func value(of key: String) -> String? {
        members.last { $0.key == key }.map { String(decoding: bytes[$0.value], as: UTF8.self) }
    }

    /// - Parameter value: JSON.
    /// - Returns: nil if the key has that value; also, with `isAmbiguous`, if it is there twice.
    func setting(_ key: String, to value: String) -> TextEdit? {
        if let member = members.last(where: { $0.key == key }) {
            let former = String(decoding: bytes[member.value], as: UTF8.self)
            return former == value
                ? nil : TextEdit(offset: member.value.lowerBound, removing: former[...], inserting: value)
        }
        let start = (bytes.firstIndex(of: UInt8(ascii: "{")) ?? 0) + 1
        let space = String(decoding: bytes[start...].prefix { Scanner.isSpace($0) }, as: UTF8.self)
        if members.isEmpty { return TextEdit(offset: start, inserting: "\n\t\"\(key)\": \(value)\n") }
        return TextEdit(offset: start, inserting: "\(space)\"\(key)\": \(value),")
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
                let key = string()
                skip { Self.isSpace($0) || $0 == UInt8(ascii: ":") }
                let start = place
                skipValue()
                found.append(Member(key: key, value: start..<place))
            }
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

        /// A key that is written with escapes is none that is looked for, except by somebody who wants to hide it.
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
