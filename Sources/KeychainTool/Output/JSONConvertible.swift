/// A value that scripts get as JSON.
protocol JSONConvertible: SendableMetatype {
    var json: JSONValue { get }
}

extension JSONConvertible {
    func writeJSON() throws(ToolFailure) { try Console.write(json.text + "\n") }
}

extension JSONValue: JSONConvertible {
    var json: JSONValue { self }
}

extension Bool: JSONConvertible {
    var json: JSONValue { .boolean(self) }
}

extension String: JSONConvertible {
    var json: JSONValue { .string(self) }
}

/// A count above the range of `Int64` is the greatest number of that range.
extension JSONConvertible where Self: BinaryInteger {
    var json: JSONValue { .number(Int64(clamping: self)) }
}

extension Int: JSONConvertible {}
extension Int32: JSONConvertible {}
extension Int64: JSONConvertible {}
extension UInt32: JSONConvertible {}
extension UInt64: JSONConvertible {}

/// nil is null.
extension Optional: JSONConvertible where Wrapped: JSONConvertible {
    var json: JSONValue { self?.json ?? .null }
}

extension Array: JSONConvertible where Element: JSONConvertible {
    var json: JSONValue { .array(map(\.json)) }
}
