public import Foundation

// How many items a search returns.

/// The limit says how many items a search returns at most.
///
/// The value is `kSecMatchLimitOne`, which is the default, `kSecMatchLimitAll` or a number. Any limit but one makes the
/// result an array, also of a single item. The number 0 finds nothing, and −1 is no limit. A delete takes
/// `kSecMatchLimitAll` alone. An add, an update, and any other limit of a delete are `errSecParam`.
nonisolated(unsafe) public let kSecMatchLimit: CFString = "m_Limit"
/// The value `m_LimitOne` makes a search return one item by itself, without an array.
nonisolated(unsafe) public let kSecMatchLimitOne: CFString = "m_LimitOne"
/// The value `m_LimitAll` makes a search return an array of all items that match.
///
/// Without a `kSecReturn…` key the array is empty.
nonisolated(unsafe) public let kSecMatchLimitAll: CFString = "m_LimitAll"

// The conditions of a search beyond attributes.

/// The condition finds internet passwords whose server is a host or lies below it.
///
/// The value is text, which is compared without regard to case. A search of another class is `errSecUnimplemented`. In
/// an add, an update or a delete the key is `errSecParam`, like every match key but the limit.
nonisolated(unsafe) public let kSecMatchHostOrSubdomainOfHost: CFString = "m_HostOrSubdomainOfHost"
/// A search with a policy is `errSecUnimplemented`, since certificates are not evaluated yet.
nonisolated(unsafe) public let kSecMatchPolicy: CFString = "m_Policy"
/// A search by the issuers in a chain is `errSecUnimplemented`, since chains are not built yet.
nonisolated(unsafe) public let kSecMatchIssuers: CFString = "m_Issuers"
/// A search by a certificate's mail address is `errSecUnimplemented`; a value that is no text is `errSecParam`.
nonisolated(unsafe) public let kSecMatchEmailAddressIfPresent: CFString = "m_EmailAddressIfPresent"
/// A search for trusted certificates alone is `errSecUnimplemented`, since certificates are not evaluated yet.
///
/// The value is a Boolean. The value false asks for nothing and is ignored.
nonisolated(unsafe) public let kSecMatchTrustedOnly: CFString = "m_TrustedOnly"
/// A search for certificates or identities that are valid on a date is `errSecUnimplemented`.
///
/// The value is a date or null, and anything else is `errSecParam`. A search for passwords or keys ignores the
/// condition.
nonisolated(unsafe) public let kSecMatchValidOnDate: CFString = "m_ValidOnDate"
/// A search for a part of a certificate's subject is `errSecUnimplemented`.
nonisolated(unsafe) public let kSecMatchSubjectContains: CFString = "m_SubjectContains"
/// A search for the beginning of a certificate's subject is `errSecUnimplemented`.
nonisolated(unsafe) public let kSecMatchSubjectStartsWith: CFString = "m_SubjectStartsWith"
/// A search for the end of a certificate's subject is `errSecUnimplemented`.
nonisolated(unsafe) public let kSecMatchSubjectEndsWith: CFString = "m_SubjectEndsWith"
/// A search for a certificate's whole subject as text is `errSecUnimplemented`.
nonisolated(unsafe) public let kSecMatchSubjectWholeString: CFString = "m_SubjectWholeString"
/// A search without regard to case is `errSecUnimplemented`, while the value false is ignored.
///
/// Texts of attributes are always compared byte for byte.
nonisolated(unsafe) public let kSecMatchCaseInsensitive: CFString = "m_CaseInsensitive"
/// A search without regard to accents is `errSecUnimplemented`, while the value false is ignored.
///
/// Texts of attributes are always compared byte for byte.
nonisolated(unsafe) public let kSecMatchDiacriticInsensitive: CFString = "m_DiacriticInsensitive"
/// A search without regard to wide and narrow characters is `errSecUnimplemented`, while the value false is ignored.
///
/// Texts of attributes are always compared byte for byte.
nonisolated(unsafe) public let kSecMatchWidthInsensitive: CFString = "m_WidthInsensitive"
/// A search among given items is `errSecUnimplemented`.
nonisolated(unsafe) public let kSecMatchItemList: CFString = "m_ItemList"
/// A search in given keychains is `errSecUnimplemented`, since there is only one.
nonisolated(unsafe) public let kSecMatchSearchList: CFString = "m_SearchList"

// The flags for the result of a call; the values are Booleans, and more than one makes the result a dictionary.

/// The flag asks for the secret of each item.
///
/// The value is a Boolean object, and a number is `errSecParam`. A search opens a secret only if the flag is true, or
/// to check an application password. The returned data belong to the program and are not erased. An update with a true
/// `kSecReturn…` flag is `errSecParam`, and a delete ignores it.
nonisolated(unsafe) public let kSecReturnData: CFString = "r_Data"
/// The flag asks for a dictionary of the attributes of each item.
///
/// The value is a Boolean object, and a number is `errSecParam`. The dictionary has dates, access group, accessibility
/// and access control of the item, but neither its class nor its secret. An item that asks for a person does so for its
/// attributes too.
nonisolated(unsafe) public let kSecReturnAttributes: CFString = "r_Attributes"
/// The flag asks for an object that stands for the item, which is `errSecUnimplemented` for certificates, keys and
/// identities.
///
/// The value is a Boolean object, and a number is `errSecParam`. For passwords the flag alone gives no result, and the
/// call succeeds. Together with another flag this one adds the attributes and the class to the result.
nonisolated(unsafe) public let kSecReturnRef: CFString = "r_Ref"
/// The flag asks for data that name the item for as long as it exists.
///
/// The value is a Boolean object, and a number is `errSecParam`. The data have twenty bytes: the class and sixteen
/// random bytes. Updates leave the data as they are. `kSecValuePersistentRef` takes the data in a query.
nonisolated(unsafe) public let kSecReturnPersistentRef: CFString = "r_PersistentRef"

// An item's secret, or the item meant.

/// The data are the secret of an item.
///
/// An add or an update with another type is `errSecParam`. A query ignores the secret as a condition. An item has at
/// most 64 MiB, its attributes included.
nonisolated(unsafe) public let kSecValueData: CFString = "v_Data"
/// A reference to a certificate, key or identity is `errSecUnimplemented`, since nothing makes one yet.
///
/// Among the new values of an update the key is `errSecNoSuchAttr`.
nonisolated(unsafe) public let kSecValueRef: CFString = "v_Ref"
/// The persistent reference names one item by the data that `kSecReturnPersistentRef` gave.
///
/// A search with a reference takes no attributes beside it. The reference alone opens no access group that the program
/// does not hold. Data of another form are `errSecParam`, and a reference of another class than the query's is
/// `errSecNoSuchClass`. An add ignores a reference that is well-formed.
nonisolated(unsafe) public let kSecValuePersistentRef: CFString = "v_PersistentRef"
