package import KeychainWire

package enum ConnectionEnd: Error {
    /// The client is gone, or as good as gone, and cannot be told anything.
    case gone
    /// The client does not read its answer, and cannot be told anything in the midst of it.
    case unread
    case goodbye(DaemonGoodbye.Reason, String)

    static let noMemoryForAnswer = ConnectionEnd.goodbye(
        .tooSlow, "there is no memory for an answer of this size at present: try again later")

    static func malformed(_ what: String) -> ConnectionEnd { .goodbye(.malformed, what) }
}
