internal import Foundation
internal import KeychainCertificates
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
            if hasCertificate { match.moment = (value as? NSDate).map { $0 as Date } ?? Date() }
        case "m_TrustedOnly":
            let isTrustedOnly = try SecItemValue.boolean(name, value)
            if hasCertificate {
                match.isTrustedOnly = isTrustedOnly
            } else if isTrustedOnly {
                unsupportedMatchKey = name
            }
        case "m_Policy":
            guard let policy = value as? SecPolicy else { throw SecItemValue.wrongType(name, value) }
            if hasCertificate { match.policy = policy.policy } else { unsupportedMatchKey = name }
        case "m_CaseInsensitive", "m_DiacriticInsensitive", "m_WidthInsensitive":
            // Said to be false, it asks for nothing.
            let isFalse = (value as? NSNumber).map { SecItemValue.isBoolean($0) && !$0.boolValue } ?? false
            if isFalse { break }
            guard hasCertificate, let option = Self.comparisons[name] else { return unsupportedMatchKey = name }
            match.comparison.insert(option)
        case "m_EmailAddressIfPresent":
            guard let address = SecItemValue.text(value) else { throw SecItemValue.wrongType(name, value) }
            if hasCertificate { match.emailAddress = address } else { unsupportedMatchKey = name }
        case "m_Issuers":
            if hasCertificate { match.issuers = try Self.issuers(value) } else { unsupportedMatchKey = name }
        case "m_SubjectContains", "m_SubjectStartsWith", "m_SubjectEndsWith", "m_SubjectWholeString":
            guard hasCertificate, let place = Self.places[name] else { return unsupportedMatchKey = name }
            match.subjects.append((place, try SecItemValue.text(name, value)))
        case "m_ItemList", "m_SearchList": unsupportedMatchKey = name
        default: break
        }
    }

    private var hasCertificate: Bool { itemClass == .certificate || itemClass == .identity }

    private static let comparisons: [String: String.CompareOptions] = [
        "m_CaseInsensitive": .caseInsensitive, "m_DiacriticInsensitive": .diacriticInsensitive,
        "m_WidthInsensitive": .widthInsensitive,
    ]

    private static let places: [String: CertificateMatch.Place] = [
        "m_SubjectContains": .contains, "m_SubjectStartsWith": .start, "m_SubjectEndsWith": .end,
        "m_SubjectWholeString": .whole,
    ]

    private static func issuers(_ value: AnyObject) throws(KeychainError) -> [Data] {
        guard let names = value as? NSArray else { throw SecItemValue.wrongType("kSecMatchIssuers", value) }
        var contents: [Data] = []
        for name in names {
            guard let data = SecItemValue.data(name as AnyObject),
                let content = DistinguishedName.normalizedContent(of: data)
            else {
                throw KeychainError(.parameter, message: "kSecMatchIssuers has names in DER, each a SEQUENCE")
            }
            contents.append(content)
        }
        return contents
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
