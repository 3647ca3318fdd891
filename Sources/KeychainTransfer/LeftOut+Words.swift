package import KeychainModel

extension LeftOut {
    /// The reasons, each with its count; nil: nothing was left out.
    package var inWords: String? {
        let reasons = [
            (thisDeviceOnly, "only for this device"), (constrained, "that asks for authentication"),
            (ofTokens, "of a token"), (unreadable, "that does not open"),
        ]
        return total == 0 ? nil : reasons.filter { $0.0 > 0 }.map { "\($0) \($1)" }.joined(separator: ", ")
    }
}
