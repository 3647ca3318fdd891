internal import KeychainModel

extension Request {
    /// The rest of the sentence "only the owner of the keychain", if the request concerns the items of every group, or
    /// the store itself; nil for a request that the caller's groups limit, or that shows the passcode by itself.
    func ownersWork(on host: StoreHost) -> String? {
        switch self {
        case .exportItems: "exports all items"
        case .importItems: "imports items"
        case .backUpFileKeys: "makes backup keys of its files"
        case .expiredItems: "says which items that have expired are deleted"
        case .removeExpired: "removes what has expired"
        case .check: "has all of it checked"
        case .compact: "compacts it"
        case .removeMoved: "gives its items to another host"
        case .giveUpStore: "can give it to another host"
        // Elsewhere all programs of a user are one to the kernel, so each may.
        case .passcode(.set) where host == .system: "sets its first passcode"
        default: nil
        }
    }
}
