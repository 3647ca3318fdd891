import Foundation
import KeychainEntitlements

/// The part of an `.entitlements` file that says which access groups a program has.
struct Entitlements {
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
        var used: [String: Any] = [:]
        for key in AccessGroupKey.allCases {
            guard let value = dictionary[key.rawValue] else { continue }
            let names = key.isList ? value as? [String] : (value as? String).map { [$0] }
            do throws(EntitlementFlaw) { _ = try key.checked(names) } catch { throw GeneratorError(error.description) }
            used[key.rawValue] = value
        }
        return used
    }

    private static func reason(for error: any Error) -> String {
        let error = error as NSError
        return error.userInfo[NSDebugDescriptionErrorKey] as? String ?? error.localizedDescription
    }
}
