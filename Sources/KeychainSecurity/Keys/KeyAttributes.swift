internal import Foundation
internal import KeychainClient
internal import KeychainCrypto
internal import KeychainKeys
internal import KeychainModel

/// The attributes that an item has because of the key in it, and the dictionary of `SecKeyCopyAttributes`.
struct KeyAttributes {
    private let key: SecKey

    init(_ key: SecKey) { self.key = key }

    private var attributes: KeyItemAttributes {
        switch key.half {
        case .software(let key): KeyItemAttributes(key)
        case .engine(let key):
            KeyItemAttributes(key.curve, pointOfKeyInEngine: key.point, label: self.key.half.inEngine?.label)
        }
    }

    /// The attributes by which the rows of a key are found.
    var identifying: AttributeSet { attributes.identifying }

    /// All that an item for the key has.
    var all: AttributeSet { attributes.all }

    /// The attributes as `SecKeyCopyAttributes` gives them: class and type are texts there, and numbers in an item.
    var dictionary: NSDictionary {
        let result = NSMutableDictionary()
        result["class"] = ItemClass.key.rawValue as NSString
        for (attribute, value) in all.entries {
            switch (attribute, value) {
            case (.keyClass, .number(let number)), (.type, .number(let number)):
                result[attribute.code] = String(number) as NSString
            default: result[attribute.code] = value.object
            }
        }
        if let bytes { result["v_Data"] = bytes as NSData }
        return result
    }

    /// The bytes that an item for the key has as its secret.
    var bytes: Data? {
        if case .software(let key) = key.half { key.externalRepresentation } else { nil }
    }
}

extension SecKey {
    /// Makes the key that an item holds.
    ///
    /// - Throws: `.decode` if its bytes are no key of the kind that its attributes say.
    convenience init(_ item: Item, _ dictionary: SecItemDictionary) throws(KeychainError) {
        let asking = Asking(in: dictionary.context?.session, reason: dictionary.prompt)
        if let key = EngineKey(item, in: .current, asking, authenticationUI: dictionary.authenticationUI) {
            self.init(.engine(key))
            return
        }
        self.init(try AsymmetricKey(item.attributes, item.secret))
    }
}
