internal import KeychainModel

/// Writes the fields of a message in protobuf's encoding, and collects the secrets that go into the frame's tail.
///
/// Fields are written in the order of their numbers, so that equal messages have equal bytes.
struct MessageWriter {
    private(set) var bytes: [UInt8] = []
    private(set) var secrets: [SecretBytes] = []

    init() { bytes.reserveCapacity(256) }

    /// A field that is absent while it has the value that stands for nothing: 0, false, or no bytes.
    mutating func add<Value: FieldValue>(_ number: Int, _ value: Value) {
        if !value.isAbsentByDefault { value.write(as: number, to: &self) }
    }

    /// A field that is absent while there is no value, and there also for 0 or no bytes.
    mutating func add<Value: FieldValue>(_ number: Int, ifAny value: Value?) {
        value?.write(as: number, to: &self)
    }

    /// Adds a field for each value.
    mutating func add<Value: FieldValue>(_ number: Int, each values: [Value]) {
        for value in values { value.write(as: number, to: &self) }
    }

    mutating func add(_ number: Int, message: some WireMessage) {
        add(number) { message.write(to: &$0) }
    }

    /// A message within this one, also if it has no fields.
    mutating func add(_ number: Int, _ content: (inout MessageWriter) -> Void = { _ in }) {
        tag(number, .bytes)
        let start = bytes.count
        bytes.append(0)
        content(&self)
        let count = bytes.count - start - 1
        if count < 0x80 {
            bytes[start] = UInt8(count)
        } else {
            bytes.replaceSubrange(start...start, with: Self.variable(UInt64(count)))
        }
    }

    /// A list of numbers in one field; absent without any.
    mutating func add<Value: PackedValue>(_ number: Int, packed values: [Value]) {
        if values.isEmpty { return }
        add(number) { writer in
            for value in values {
                switch Value.type {
                case .fourBytes: writer.append(UInt32(truncatingIfNeeded: value.encoded))
                case .eightBytes: writer.append(value.encoded)
                case .variable, .bytes: writer.variable(value.encoded)
                }
            }
        }
    }

    /// The size of a secret that the tail has; absent without one.
    mutating func add(_ number: Int, secret: SecretBytes?) {
        guard let secret else { return }
        add(number, ifAny: UInt64(secret.count))
        secrets.append(secret)
    }

    // MARK: Pieces of fields

    mutating func tag(_ number: Int, _ type: WireType) { variable(UInt64(number) << 3 | UInt64(type.rawValue)) }

    mutating func variable(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    private static func variable(_ value: UInt64) -> [UInt8] {
        var writer = MessageWriter()
        writer.variable(value)
        return writer.bytes
    }

    /// Appends the lowest byte first.
    mutating func append(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func append(_ content: UnsafeRawBufferPointer) {
        variable(UInt64(content.count))
        bytes.append(contentsOf: content)
    }
}

/// How a field is encoded: the lowest three bits of its tag. Groups (3 and 4) are no part of this protocol.
enum WireType: UInt8 {
    case variable = 0
    case eightBytes = 1
    case bytes = 2
    case fourBytes = 5
}
