internal import Foundation
internal import KeychainModel

extension SecItemDictionary {
    /// Reads a match key, and ignores one that is not known, as Apple's keychain does.
    mutating func readMatch(_ value: AnyObject, _ name: String) throws(KeychainError) {
        if name == "m_Limit" { return limit = try Self.limit(value) }
        hasMatchFilters = true
        switch name {
        case "m_HostOrSubdomainOfHost":
            guard let host = SecItemValue.text(value) else { throw SecItemValue.wrongType(name, value) }
            if itemClass == .internetPassword { hostOrSubdomainOf = host } else { unsupportedMatchKey = name }
        case "m_ValidOnDate":
            guard value is NSDate || value is NSNull else { throw SecItemValue.wrongType(name, value) }
            // Passwords and keys have no period of validity: Apple's keychain ignores the key for them.
            if itemClass == .certificate || itemClass == .identity { unsupportedMatchKey = name }
        case "m_TrustedOnly":
            if try SecItemValue.boolean(name, value) { unsupportedMatchKey = name }
        case "m_CaseInsensitive", "m_DiacriticInsensitive", "m_WidthInsensitive":
            // Said to be false, it asks for nothing.
            let flag = (value as? NSNumber).map { SecItemValue.isBoolean($0) && !$0.boolValue } ?? false
            if !flag { unsupportedMatchKey = name }
        case "m_EmailAddressIfPresent":
            guard value is NSString else { throw SecItemValue.wrongType(name, value) }
            unsupportedMatchKey = name
        case "m_Issuers", "m_Policy", "m_SubjectContains", "m_SubjectStartsWith", "m_SubjectEndsWith",
            "m_SubjectWholeString", "m_ItemList", "m_SearchList":
            unsupportedMatchKey = name
        default: break
        }
    }

    private static func limit(_ value: AnyObject) throws(KeychainError) -> ItemQuery.Limit {
        switch value {
        case let text as NSString where text == "m_LimitOne": return .one
        case let text as NSString where text == "m_LimitAll": return .all
        case let number as NSNumber where !SecItemValue.isBoolean(number):
            guard let count = SecItemValue.integer(number), count >= -1 else { break }
            return count == -1 ? .all : count == 1 ? .one : .atMost(Int(count))
        default: break
        }
        throw KeychainError(
            .parameter, message: "kSecMatchLimit is a number, kSecMatchLimitOne or kSecMatchLimitAll")
    }
}
