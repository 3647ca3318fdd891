/// The fields of OpenSSH's formats (RFC 4251, section 5).
struct SSHReader {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    mutating func number() throws -> UInt32 {
        try take(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    mutating func string() throws -> ArraySlice<UInt8> { try take(Int(try number())) }

    mutating func text() throws -> String { String(decoding: try string(), as: UTF8.self) }

    /// A number that is not negative, without zeros in front.
    mutating func integer() throws -> [UInt8] {
        let bytes = try string()
        guard bytes.first ?? 0 < 0x80 else { throw KeyFileFlaw.damaged }
        return Array(bytes.drop { $0 == 0 })
    }

    private mutating func take(_ count: Int) throws -> ArraySlice<UInt8> {
        guard count <= rest.count else { throw KeyFileFlaw.damaged }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }
}

struct SSHWriter {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ number: UInt32) {
        withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
    }

    mutating func append(_ string: some Collection<UInt8>) {
        append(UInt32(string.count))
        bytes += string
    }

    mutating func append(_ text: String) { append(text.utf8) }

    /// - Parameter integer: A number that is not negative.
    mutating func append(integer: some Collection<UInt8>) {
        let digits = integer.drop { $0 == 0 }
        append(digits.first.map { $0 >= 0x80 } ?? false ? [0] + digits : Array(digits))
    }

    mutating func append(raw: some Sequence<UInt8>) { bytes += raw }
}
