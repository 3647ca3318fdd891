/// A password of characters of several classes, at least one of each. Every such text is as likely as any other one.
package enum RandomPassword {
    package static let usualLength = 20
    package static let lengths = 4...1024

    /// - Parameters:
    ///   - count: The number of characters, no smaller than that of the classes.
    ///   - generator: Where the randomness comes from; the system's, but in tests.
    package static func make(
        count: Int, of classes: [[UInt8]], using generator: inout some RandomNumberGenerator
    ) -> SecretBytes {
        let buffer = SecretBuffer()
        let alphabet = classes.flatMap(\.self)
        // Passwords that lack a class are thrown away whole, so that no place of the password favours any class.
        repeat {
            buffer.removeAll()
            for _ in 0..<count { buffer.append(alphabet[Int.random(in: alphabet.indices, using: &generator)]) }
        } while !classes.allSatisfy { buffer.containsAny(of: $0) }
        return buffer.secret()
    }
}

/// The classes of characters that passwords are made of.
package enum CharacterClass: String, CaseIterable {
    case lower, upper, digits, symbols

    package var characters: [UInt8] {
        switch self {
        case .lower: Array(UInt8(ascii: "a")...UInt8(ascii: "z"))
        case .upper: Array(UInt8(ascii: "A")...UInt8(ascii: "Z"))
        case .digits: Array(UInt8(ascii: "0")...UInt8(ascii: "9"))
        // The set lacks quotes, backslash, brackets and other signs that a shell or a form takes for something else.
        case .symbols: Array("!#%+,-./:=?@^_~".utf8)
        }
    }
}
