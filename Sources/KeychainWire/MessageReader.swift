internal import KeychainModel

/// A message in protobuf's encoding that is read, from bytes that may be anything.
///
/// Fields may come in any order, and ones that are not known are passed over. If a field comes several times and is no
/// list, the last one counts. That holds for messages within messages too, of which other decoders join the pieces.
struct MessageReader {
    /// Fields with higher numbers are not known.
    private static let mostNumber = 40

    /// The caller keeps them in their place while something is read.
    let bytes: UnsafeRawBufferPointer
    /// For the last field of each number, one more than its offset. 0: there is none.
    private var places = InlineArray<41, UInt32>(repeating: 0)

    /// - Throws: `.parameter` for bytes that are no message.
    init(_ bytes: UnsafeRawBufferPointer) throws(KeychainError) {
        guard bytes.count < Int(UInt32.max) else { throw .noMessage }
        self.bytes = bytes
        var fields = FieldReader(bytes)
        while !fields.isAtEnd {
            let place = fields.place
            let field = try fields.next()
            if field.number <= Self.mostNumber { places[field.number] = UInt32(place) + 1 }
        }
    }

    func has(_ number: Int) -> Bool { places[number] > 0 }

    /// The value of a field; nil: it is not there, or of another type.
    ///
    /// - Throws: `.parameter` for a value of another form.
    func value<Value: FieldValue>(_ number: Int) throws(KeychainError) -> Value? {
        guard has(number) else { return nil }
        var fields = FieldReader(bytes, from: Int(places[number]) - 1)
        return try Value(try fields.next())
    }

    /// The values of a list.
    ///
    /// - Parameter name: The name of the elements in messages of errors.
    /// - Throws: `.parameter` for more than `most`.
    func list<Value: FieldValue>(_ number: Int, most: Int, _ name: String) throws(KeychainError) -> [Value] {
        try elements(number, most, name) { field, append throws(KeychainError) in
            if let value = try Value(field) { try append(value) }
        }
    }

    /// The messages of a list.
    func list<Value: WireMessage>(
        _ number: Int, _ tail: inout WireTail, most: Int = .max, _ name: String = ""
    ) throws(KeychainError) -> [Value] {
        try elements(number, most, name) { field, append throws(KeychainError) in
            if let message = try MessageReader(field) { try append(try Value(message, &tail)) }
        }
    }

    /// The numbers of a list, of which a field has one, or any count in one piece.
    func packed<Value: PackedValue>(
        _ number: Int, most: Int, _ name: String
    ) throws(KeychainError) -> [Value] {
        try elements(number, most, name) { field, append throws(KeychainError) in
            if field.type == Value.type {
                try append(try Value(encoded: field.value))
            } else if field.type == .bytes {
                var numbers = FieldReader(field.content)
                while !numbers.isAtEnd { try append(try Value(encoded: try numbers.number(Value.type))) }
            }
        }
    }

    private func elements<Value>(
        _ number: Int, _ most: Int, _ name: String,
        _ read: (MessageField, (Value) throws(KeychainError) -> Void) throws(KeychainError) -> Void
    ) throws(KeychainError) -> [Value] {
        var values: [Value] = []
        var fields = FieldReader(bytes)
        // As far as the last one of this number.
        while fields.place < places[number] {
            let field = try fields.next()
            guard field.number == number else { continue }
            try read(field) { value throws(KeychainError) in
                guard values.count < most else {
                    throw KeychainError(.parameter, message: "the message has more than \(most) \(name)")
                }
                values.append(value)
            }
        }
        return values
    }

    /// Which of several kinds of content a message has: the last one counts.
    func kind<Kind: RawRepresentable<Int>>(_: Kind.Type = Kind.self) -> Kind? {
        var last: (place: UInt32, kind: Kind)?
        for number in places.indices where places[number] > last?.place ?? 0 {
            if let kind = Kind(rawValue: number) { last = (places[number], kind) }
        }
        return last?.kind
    }
}

/// Reads the fields of a message one after the other.
struct FieldReader {
    private let bytes: UnsafeRawBufferPointer
    /// The offset of the next field.
    private(set) var place: Int

    init(_ bytes: UnsafeRawBufferPointer, from place: Int = 0) {
        self.bytes = bytes
        self.place = place
    }

    var isAtEnd: Bool { place == bytes.count }

    mutating func next() throws(KeychainError) -> MessageField {
        let tag = try variable()
        guard let type = WireType(rawValue: UInt8(tag & 7)), (1...MessageField.mostNumber).contains(tag >> 3) else {
            throw .noMessage
        }
        let number = Int(tag >> 3)
        guard type == .bytes else { return MessageField(number, type, value: try self.number(type)) }
        return MessageField(number, type, content: try take(try variable()))
    }

    mutating func number(_ type: WireType) throws(KeychainError) -> UInt64 {
        switch type {
        case .variable: try variable()
        case .eightBytes: try fixed(UInt64.self)
        case .fourBytes: UInt64(try fixed(UInt32.self))
        case .bytes: throw .noMessage
        }
    }

    private mutating func variable() throws(KeychainError) -> UInt64 {
        var value: UInt64 = 0
        for index in 0..<min(10, bytes.count - place) {
            let byte = bytes[place]
            place += 1
            value |= UInt64(byte & 0x7f) << (7 * index)
            guard byte < 0x80 else { continue }
            // The tenth byte has room for one bit.
            if index == 9 && byte > 1 { throw .noMessage }
            return value
        }
        throw .noMessage
    }

    private mutating func fixed<Number: FixedWidthInteger>(_: Number.Type) throws(KeychainError) -> Number {
        Number(littleEndian: try take(UInt64(MemoryLayout<Number>.size)).loadUnaligned(as: Number.self))
    }

    private mutating func take(_ count: UInt64) throws(KeychainError) -> UnsafeRawBufferPointer {
        guard count <= bytes.count - place else { throw .noMessage }
        let end = place + Int(count)
        defer { place = end }
        return UnsafeRawBufferPointer(rebasing: bytes[place..<end])
    }
}

/// One field of a message that is read.
struct MessageField {
    /// The encoding has no higher number.
    static let mostNumber: UInt64 = 1 << 29 - 1

    let number: Int
    let type: WireType
    /// The value of a field that is a number.
    let value: UInt64
    /// The content of all other fields.
    let content: UnsafeRawBufferPointer

    fileprivate init(
        _ number: Int, _ type: WireType, value: UInt64 = 0,
        content: UnsafeRawBufferPointer = .init(start: nil, count: 0)
    ) {
        self.number = number
        self.type = type
        self.value = value
        self.content = content
    }
}

extension KeychainError {
    static var noMessage: KeychainError {
        KeychainError(.parameter, message: "the bytes are no message of this protocol")
    }
}
