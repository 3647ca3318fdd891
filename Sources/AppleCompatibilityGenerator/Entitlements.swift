import Foundation

/// The part of an `.entitlements` file that says which access groups a program has.
struct Entitlements {
    /// The type that codesign gives each of the keys in use.
    private enum ValueType: String {
        case string = "a string"
        case strings = "an array of strings"
    }

    private static let types: [String: ValueType] = [
        "application-identifier": .string,
        "com.apple.application-identifier": .string,
        "com.apple.developer.associated-application-identifier": .strings,
        "com.apple.security.application-groups": .strings,
        "keychain-access-groups": .strings,
    ]

    /// A binary property list of the keys in use, without the rest of the file.
    let propertyList: Data

    /// Reads a property list in XML or binary form.
    ///
    /// - Throws: ``GeneratorError``, whose text begins with the file's path as compilers write it, so that
    ///   an editor leads there.
    init(contentsOf file: URL) throws(GeneratorError) {
        do {
            let content = try PropertyListSerialization.propertyList(from: Data(contentsOf: file), format: nil)
            let used = try Self.used(from: content)
            propertyList = try PropertyListSerialization.data(fromPropertyList: used, format: .binary, options: 0)
        } catch let error as GeneratorError {
            throw GeneratorError("\(file.path): \(error)")
        } catch {
            throw GeneratorError("\(file.path): not a property list: \(Self.reason(for: error))")
        }
    }

    private static func used(from content: Any) throws(GeneratorError) -> [String: Any] {
        guard let dictionary = content as? [String: Any] else {
            throw GeneratorError("the property list is not a dictionary")
        }
        let used = dictionary.filter { types.keys.contains($0.key) }
        for (key, value) in used {
            try check(value, for: key)
        }
        return used
    }

    private static func check(_ value: Any, for key: String) throws(GeneratorError) {
        guard let type = types[key] else { return }
        let names: [String]? =
            switch type {
            case .string: (value as? String).map { [$0] }
            case .strings: value as? [String]
            }
        guard let names else { throw GeneratorError("\(key) is not \(type.rawValue)") }
        // Xcode replaces these before it signs. Kept as they are, they would name a group that no code asks for.
        if let name = names.first(where: { $0.contains("$(") || $0.contains("${") }) {
            throw GeneratorError("\(key) has \(name): only Xcode replaces build settings, write the name in full")
        }
    }

    private static func reason(for error: any Error) -> String {
        let error = error as NSError
        return error.userInfo[NSDebugDescriptionErrorKey] as? String ?? error.localizedDescription
    }
}
