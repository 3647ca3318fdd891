import Foundation
import KeychainModel

/// Everything that a value is made of, by the path to it, so that nothing escapes a comparison: a property that is
/// added to a type is compared from then on. Texts and numbers are told apart by their bytes, attributes in any order.
struct Structure: Equatable {
    private(set) var leaves: [String: String] = [:]

    init(_ value: Any) { add(value, at: "") }

    /// The paths at which there is nothing, or what a new value would have anyway. In a sample that is meant to be full
    /// there are none.
    var defaults: [String] {
        leaves.filter { ["nil", "false", "0", "text", "[]"].contains($0.value) }.map(\.key).sorted()
    }

    private mutating func add(_ value: Any, at path: String) {
        switch value {
        case let secret as SecretBytes: leaves[path] = "secret \(secret.copyData().hexadecimal)"
        case let text as String: leaves[path] = "text\(Data(text.utf8).hexadecimal)"
        case let data as Data: leaves[path] = "data \(data.hexadecimal)"
        case let number as Double: leaves[path] = number == 0 ? "0" : "double \(number.bitPattern)"
        case let identifier as UUID: leaves[path] = identifier.uuidString
        case let number as any BinaryInteger: leaves[path] = "\(number)"
        case let flag as Bool: leaves[path] = "\(flag)"
        case let attributes as AttributeSet:
            leaves["\(path) count"] = "\(attributes.count) attributes"
            for (attribute, value) in attributes.entries { add(value, at: "\(path).\(attribute)") }
        case let error as KeychainError:
            // The number alone: a task that was cancelled is no matter of the daemon's.
            add((error.code.status, error.message, error.signal == .damage), at: path)
        default: addChildren(of: value, at: path)
        }
    }

    private mutating func addChildren(of value: Any, at path: String) {
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .optional:
            guard let content = mirror.children.first else { return leaves[path] = "nil" }
            add(content.value, at: path)
        case .dictionary:
            let entries = mirror.children.map { ($0.value as! (key: AnyHashable, value: Any)) }
            for entry in entries { add(entry.value, at: "\(path)[\(entry.key)]") }
            leaves["\(path) count"] = "\(entries.count) entries"
        case .set:
            // In an order of their own.
            for (index, element) in mirror.children.map({ "\($0.value)" }).sorted().enumerated() {
                leaves["\(path).\(index)"] = element
            }
        case .enum where mirror.children.isEmpty: leaves[path] = "case \(value)"
        default:
            if mirror.children.isEmpty { leaves[path] = mirror.displayStyle == .collection ? "[]" : "\(value)" }
            for (place, child) in mirror.children.enumerated() {
                add(child.value, at: "\(path).\(child.label ?? "\(place)")")
            }
        }
    }
}

extension Structure: CustomStringConvertible {
    var description: String { leaves.sorted { $0.key < $1.key }.map { "\($0): \($1)" }.joined(separator: "\n") }
}

extension Data {
    var hexadecimal: String { map { String(format: "%02x", $0) }.joined() }
}

extension SecretBytes {
    convenience init(_ text: String) { self.init(copying: Data(text.utf8)) }
}
