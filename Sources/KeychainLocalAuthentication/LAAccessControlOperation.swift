/// An operation is the use of an item that a program has an access control evaluated for.
public enum LAAccessControlOperation: Int, Sendable {
    /// Storing an item asks a person for nothing, so the evaluation succeeds at once.
    case createItem = 0
    /// Reading an item asks for all that its access control wants.
    case useItem = 1
    /// Making a key asks a person for nothing, so the evaluation succeeds at once.
    case createKey = 2
    /// Signing with a key in the engine asks for all that its access control wants, which needs `privateKeyUsage`.
    case useKeySign = 3
    /// Decrypting with a key in the engine asks as signing does.
    case useKeyDecrypt = 4
    /// Agreeing on a secret with a key in the engine asks as signing does.
    case useKeyKeyExchange = 5
}
