package import KeychainModel

/// A part of a secret that has several lines.
package enum SecretField: Hashable, Sendable {
    /// The number of the line, counted from 1.
    case line(Int)
    /// The text behind "NAME:" in one of the lines after the first, as `pass` keeps it.
    case named(String)

    init(_ name: String) throws(ItemReference.Flaw) {
        guard !name.isEmpty else { throw ItemReference.Flaw(message: "the field behind the # is empty") }
        let digits = String(decoding: name.utf8.dropFirst(4), as: UTF8.self)
        if name.utf8.starts(with: "line".utf8), let number = Int(digits) {
            guard number > 0, digits == "\(number)" else {
                throw ItemReference.Flaw(message: "lines are counted from 1: #line1 is the first")
            }
            self = .line(number)
        } else {
            self = .named(name)
        }
    }

    package var name: String {
        switch self {
        case .line(let number): "line\(number)"
        case .named(let name): name
        }
    }

    /// nil: the secret has no such part.
    package func value(in secret: SecretBytes) -> SecretBytes? {
        secret.withUnsafeBytes { bytes in
            var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
            // A line feed ends a line and begins none.
            if lines.last?.isEmpty == true { lines.removeLast() }
            switch self {
            case .line(let number):
                guard number <= lines.count else { return nil }
                return Self.copy(lines[number - 1])
            case .named(let name):
                let start = Array(name.utf8) + [UInt8(ascii: ":")]
                guard let line = lines.dropFirst().first(where: { $0.starts(with: start) }) else { return nil }
                return Self.copy(
                    line.dropFirst(start.count).drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") })
            }
        }
    }

    private static func copy(_ line: Slice<UnsafeRawBufferPointer>) -> SecretBytes {
        let end = line.last == UInt8(ascii: "\r") ? 1 : 0
        return SecretBytes(copying: UnsafeRawBufferPointer(rebasing: line.dropLast(end)))
    }
}
