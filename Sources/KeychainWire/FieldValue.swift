internal import FoundationEssentials
internal import KeychainModel

/// A value that a field of a message can have.
protocol FieldValue {
    /// Whether a field without presence of its own is left out for this value.
    var isAbsentByDefault: Bool { get }

    func write(as number: Int, to message: inout MessageWriter)

    /// nil if the field is of another type than this.
    ///
    /// - Throws: `.parameter` for bytes or numbers of another form.
    init?(_ field: MessageField) throws(KeychainError)
}

extension FieldValue where Self: FixedWidthInteger {
    var isAbsentByDefault: Bool { self == 0 }

    func write(as number: Int, to message: inout MessageWriter) {
        message.tag(number, .variable)
        message.variable(UInt64(truncatingIfNeeded: self))
    }

    init?(_ field: MessageField) {
        guard field.type == .variable else { return nil }
        self.init(truncatingIfNeeded: field.value)
    }
}

extension UInt64: FieldValue {}
extension UInt32: FieldValue {}
extension Int64: FieldValue {}
extension Int32: FieldValue {}

extension Bool: FieldValue {
    var isAbsentByDefault: Bool { !self }

    func write(as number: Int, to message: inout MessageWriter) {
        message.add(number, ifAny: UInt32(self ? 1 : 0))
    }

    init?(_ field: MessageField) {
        guard field.type == .variable else { return nil }
        self = field.value != 0
    }
}

extension Double: FieldValue {
    /// The value -0 is not absent.
    var isAbsentByDefault: Bool { bitPattern == 0 }

    func write(as number: Int, to message: inout MessageWriter) {
        message.tag(number, .eightBytes)
        message.append(bitPattern)
    }

    init?(_ field: MessageField) {
        guard field.type == .eightBytes else { return nil }
        self.init(bitPattern: field.value)
    }
}

extension String: FieldValue {
    var isAbsentByDefault: Bool { isEmpty }

    func write(as number: Int, to message: inout MessageWriter) {
        message.tag(number, .bytes)
        var text = self
        text.withUTF8 { message.append(UnsafeRawBufferPointer($0)) }
    }

    init?(_ field: MessageField) throws(KeychainError) {
        guard field.type == .bytes else { return nil }
        // 'String(validating:)' is generic code that nothing specialises: five times as many instructions.
        do { self = String(copying: try UTF8Span(validating: field.content.bindMemory(to: UInt8.self).span)) } catch {
            throw .noMessage
        }
    }
}

extension Data: FieldValue {
    var isAbsentByDefault: Bool { isEmpty }

    func write(as number: Int, to message: inout MessageWriter) {
        message.tag(number, .bytes)
        withUnsafeBytes { message.append($0) }
    }

    init?(_ field: MessageField) {
        guard field.type == .bytes else { return nil }
        self.init(field.content)
    }
}

extension UUID: FieldValue {
    /// An identifier of zeros is one too.
    var isAbsentByDefault: Bool { false }

    func write(as number: Int, to message: inout MessageWriter) {
        message.tag(number, .bytes)
        withUnsafeBytes(of: uuid) { message.append($0) }
    }

    init?(_ field: MessageField) throws(KeychainError) {
        guard field.type == .bytes else { return nil }
        guard field.content.count == 16 else {
            throw KeychainError(.parameter, message: "an identifier has \(field.content.count) bytes, 16 expected")
        }
        self.init(uuid: field.content.loadUnaligned(as: uuid_t.self))
    }
}

/// A message within another one.
extension MessageReader: FieldValue {
    var isAbsentByDefault: Bool { false }

    func write(as number: Int, to message: inout MessageWriter) {
        message.tag(number, .bytes)
        message.append(bytes)
    }

    init?(_ field: MessageField) throws(KeychainError) {
        guard field.type == .bytes else { return nil }
        try self.init(field.content)
    }
}

/// A value that is a message of its own.
protocol WireMessage {
    func write(to message: inout MessageWriter)

    /// - Throws: `.parameter` for a message of another form.
    init(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError)
}

extension MessageReader {
    /// The limit of a text for a person: the other end could send any text.
    private static let mostShownBytes = 4_096

    /// Reads a text for a person. The rest beyond the limit is left out.
    func shownText(_ number: Int) throws(KeychainError) -> String {
        guard let text: String = try value(number) else { return "" }
        guard text.utf8.count > Self.mostShownBytes else { return text }
        // A character that is cut in two goes too.
        let bytes = text.utf8.prefix(Self.mostShownBytes)
        return (0..<4).lazy.compactMap { String(bytes.dropLast($0)) }.first.map { $0 + "…" } ?? ""
    }
}

/// Returns a field that must be there.
///
/// - Throws: `.parameter` if it is not.
func required<Value>(_ name: String, _ value: Value?) throws(KeychainError) -> Value {
    guard let value else { throw KeychainError(.parameter, message: "the message has no \(name)") }
    return value
}
