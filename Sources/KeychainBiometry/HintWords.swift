internal import KeychainModel

struct HintWords {
    var isSwiped: Bool

    /// - Parameters:
    ///   - finger: As fprintd calls it, such as "right-index-finger"; "any" if it takes each that is enrolled.
    ///   - isFirst: Whether no finger was refused before.
    func question(_ finger: String, isFirst: Bool) -> BiometryHint {
        let name = finger == "any" ? nil : "your " + finger.split(separator: "-").joined(separator: " ")
        let text =
            if isSwiped {
                "swipe \(name ?? "your finger") across the fingerprint reader"
            } else {
                "touch the fingerprint reader" + (name.map { " with \($0)" } ?? "")
            }
        return BiometryHint(isFirst ? text : "that finger was not recognised: \(text)")
    }

    func again(because retry: FingerprintSignal.Retry) -> BiometryHint {
        switch retry {
        case .tooShort: BiometryHint("that was too short: \(again)")
        case .notCentred: BiometryHint("put your finger on the middle of the reader, and \(again)")
        case .remove: BiometryHint("lift your finger off the reader, and \(again)")
        case .other: BiometryHint("the reader could not see well enough: \(again)")
        }
    }

    private var again: String { isSwiped ? "swipe again" : "touch it again" }
}
