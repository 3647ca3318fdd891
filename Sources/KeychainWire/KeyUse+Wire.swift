internal import FoundationEssentials
internal import KeychainModel

extension KeyUse: WireMessage {
    private enum Kind: Int { case sign = 3, agree }

    func write(to message: inout MessageWriter) {
        message.add(1, key.data)
        message.add(2, authenticationUI)
        switch operation {
        case .sign(let digest): message.add(Kind.sign.rawValue) { $0.add(1, digest) }
        case .agree(let point): message.add(Kind.agree.rawValue) { $0.add(1, point) }
        }
    }

    /// - Throws: `.parameter` for an operation that is not known, and for one with more bytes than any has.
    init(_ message: MessageReader, _ tail: inout WireTail) throws(KeychainError) {
        let key = try PersistentReference(data: try required("key", message.value(1)))
        guard let kind: Kind = message.kind(), let content: MessageReader = try message.value(kind.rawValue) else {
            throw KeychainError(.parameter, message: "a key is to be used in a way that is not known here")
        }
        let input: Data = try content.value(1) ?? Data()
        guard input.count <= Self.mostBytes else {
            throw KeychainError(.parameter, message: "a key is to be used with \(input.count) bytes at once")
        }
        self.init(
            key, kind == .sign ? .sign(digest: input) : .agree(point: input),
            authenticationUI: try message.value(2) ?? .allow)
    }
}
