public import FoundationEssentials
internal import KeychainModel

extension Keychain {
    /// The dates and remarks beside a value, as `attributes(for:)` reads them.
    ///
    /// ```swift
    /// if let token = try keychain.attributes(for: "token"), token.modified < .now - 86_400 { renew() }
    /// ```
    public struct Attributes: Sendable, Hashable {
        /// The date at which the item was added.
        public let created: Date
        /// The date at which the item was last stored.
        public let modified: Date
        /// The moment from which the item is gone. `nil` means never.
        public let expires: Date?
        /// A text for a person, such as the name of the item in a list.
        public let label: String?
        /// A remark that a person may read.
        public let comment: String?
        /// The access group of the item.
        public let accessGroup: String
        /// The conditions for using the item.
        public let accessControl: AccessControl

        init(_ item: Item) {
            func text(_ attribute: Attribute) -> String? {
                KeychainItem<KeychainItemKinds.GenericPassword>(item)[text: attribute]
            }
            created = Date(timeIntervalSinceReferenceDate: item.created)
            modified = Date(timeIntervalSinceReferenceDate: item.modified)
            expires = item.expires.map { Date(timeIntervalSinceReferenceDate: $0.seconds) }
            label = text(.label)
            comment = text(.comment)
            accessGroup = item.accessGroup
            accessControl = AccessControl(item.accessControl)
        }
    }
}
