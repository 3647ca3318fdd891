package import Foundation
package import KeychainModel

/// Makes values that programs rarely have and must get back all the same.
package struct AnyBytes: Sendable {
    package var generator: SeededGenerator

    package init(_ generator: SeededGenerator = SeededGenerator()) { self.generator = generator }

    /// What has gone wrong in other stores: ends of strings, ends of lines, what is no UTF-8, what looks like another
    /// text or like a number, what quotes and escapes are for.
    package static let oddBytes: [Data] = [
        Data(), Data([0]), Data([0, 0, 0, 0]), Data("a\u{0}b".utf8), Data("\n".utf8), Data("line\r\n".utf8),
        Data([0xff]), Data(repeating: 0xff, count: 300), Data([0xc3, 0x28]), Data([0xc0, 0x80]),
        // Halves of surrogate pairs, as some programs encode them, and what lies beyond Unicode.
        Data([0xed, 0xa0, 0x80]), Data([0xed, 0xbf, 0xbf, 0xed, 0xa0, 0xbd]), Data([0xf4, 0x90, 0x80, 0x80]),
        Data([0xef, 0xbb, 0xbf]), Data([0xff, 0xfe, 0x41, 0x00]), Data("%s%n%x'\";--\\0".utf8), Data("$(id)`id`".utf8),
    ]

    package static let oddTexts: [String] = [
        "", "\u{0}", "a\u{0}b", "\n", "\r\n", "\t \u{a0}", "0", "-1", "1", "007", "2147483648", "true", "é", "e\u{301}",
        "\u{1e9b}\u{323}", "\u{1e9b}\u{323}\u{301}", "a\u{323}\u{307}", "a\u{307}\u{323}", "\u{212a}", "K", "k",
        "\u{fb01}", "fi", "Å", "\u{212b}", "한", "\u{1112}\u{1161}\u{11ab}", "👩‍👩‍👧‍👦", "\u{feff}", "\u{fffe}", "\u{ffff}",
        "\u{fffd}", "\u{10ffff}", "\u{202e}right to left", "\u{1b}[2J", "%s%n'\";--\\0", "ß", "ẞ", "İ", "ı", "nil",
        "null",
        String(repeating: "\u{301}", count: 500), String(repeating: "long ", count: 4_000),
    ]

    package mutating func data() -> Data {
        switch generator.below(4) {
        case 0: return Self.oddBytes[generator.below(Self.oddBytes.count)]
        case 1: return generator.bytes(generator.below(2_000))
        case 2: return Data(text().utf8)
        default: return generator.bytes(generator.below(40))
        }
    }

    /// Of any scalars, so of letters, controls, marks that join and places that nobody uses yet.
    package mutating func text() -> String {
        if generator.below(2) == 0 { return Self.oddTexts[generator.below(Self.oddTexts.count)] }
        var text = String.UnicodeScalarView()
        let ranges: [ClosedRange<UInt32>] = [0...0x7f, 0x80...0x24f, 0x300...0x36f, 0xac00...0xd7ff, 0xe000...0x10ffff]
        for _ in 0..<generator.below(60) {
            let range = ranges[generator.below(ranges.count)]
            let value = range.lowerBound + UInt32(generator.below(range.count))
            if let scalar = Unicode.Scalar(value) { text.append(scalar) }
        }
        return String(text)
    }

    /// A value in a form that an attribute of this kind stores as it is.
    package mutating func value(of kind: AttributeKind) -> AttributeValue {
        switch kind {
        case .blob:
            switch generator.below(5) {
            case 0, 1: return .text(text())
            case 2: return .number(number())
            default: return .data(data())
            }
        case .data: return .data(data())
        case .string: return .text(text())
        case .number: return .number(number())
        case .date: return .date(date())
        }
    }

    package mutating func number() -> Int64 {
        let odd: [Int64] = [0, 1, -1, .max, .min, Int64(Int32.max), Int64(Int32.min), Int64(UInt32.max), 256]
        return generator.below(2) == 0 ? odd[generator.below(odd.count)] : Int64(bitPattern: generator.next())
    }

    package mutating func date() -> Double {
        let odd = [0, -0.5, 1e-300, 978_307_200.125, -63_114_076_800, 252_423_993_600, .leastNonzeroMagnitude, 1e15]
        return odd[generator.below(odd.count)]
    }
}

extension AttributeValue {
    /// Whether it is the same value of the same type, to the byte: to Swift, texts that look alike are equal.
    package func isIdentical(to other: AttributeValue) -> Bool {
        switch (self, other) {
        case (.text(let a), .text(let b)): a.hasSameBytes(as: b)
        case (.text, _), (_, .text): false
        default: self == other
        }
    }
}
