import Foundation

/// A property that lives in the keychain. Nil means that there is no item.
@propertyWrapper
struct KeychainBacked {
    let account: String
    var service = "com.example.token-manager.settings"

    init(_ account: String) {
        self.account = account
    }

    var wrappedValue: String? {
        get {
            guard let data = try? KeychainManager.shared.load(service: service, account: account) else { return nil }
            return String(data: data, encoding: .utf8)
        }
        nonmutating set {
            if let newValue {
                try? KeychainManager.shared.update(Data(newValue.utf8), service: service, account: account)
            } else {
                try? KeychainManager.shared.delete(service: service, account: account)
            }
        }
    }
}
