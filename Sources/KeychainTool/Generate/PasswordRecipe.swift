internal import Glibc
internal import KeychainModel

/// A recipe for a password. All its results are equally likely.
enum PasswordRecipe: Equatable {
    /// Characters of several classes, at least one of each.
    case characters(count: Int, classes: [[UInt8]])
    case words(count: Int, separator: String)

    /// - Parameter generator: The source of randomness: the system's, except in tests.
    func make(using generator: inout some RandomNumberGenerator) -> SecretBytes {
        switch self {
        case .characters(let count, let classes):
            return RandomPassword.make(count: count, of: classes, using: &generator)
        case .words(let count, let separator):
            let buffer = SecretBuffer()
            for place in 0..<count {
                if place > 0 { buffer.append(separator) }
                buffer.append(WordList.words[Int.random(in: WordList.words.indices, using: &generator)])
            }
            return buffer.secret()
        }
    }

    /// The bits of entropy: the binary logarithm of the number of possible passwords.
    var entropy: Double {
        switch self {
        case .words(let count, _): Double(count) * log2(Double(WordList.words.count))
        case .characters(let count, let classes):
            Double(count) * log2(Double(classes.joined().count)) + log2(Self.share(count, classes.map(\.count)))
        }
    }

    /// The share of all texts over the alphabet that have every class, by inclusion and exclusion.
    private static func share(_ count: Int, _ sizes: [Int]) -> Double {
        let all = Double(sizes.reduce(0, +))
        return (0..<(1 << sizes.count)).reduce(0) { sum, left in
            let missing = sizes.indices.filter { left >> $0 & 1 == 1 }
            let rest = pow((all - Double(missing.map { sizes[$0] }.reduce(0, +))) / all, Double(count))
            return sum + (missing.count.isMultiple(of: 2) ? rest : -rest)
        }
    }

    /// The strength for a person: "20 characters, 125 bits of entropy".
    var inWords: String {
        let bits = "\(Int(entropy)) bits of entropy"
        switch self {
        case .characters(let count, _): return "\(counted(count, "character")), \(bits)"
        case .words(let count, _): return "\(counted(count, "word")), \(bits)"
        }
    }
}

/// The words for passwords: 1024, so that each is worth ten bits. They are common, have three to five letters, and none
/// is the beginning of another one. The list was made for this project.
enum WordList {
    static let words = String(decoding: PackageResources.words_txt, as: UTF8.self).split(whereSeparator: \.isWhitespace)
}
