// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// A type that clients of BrokenLayout do not see.
public struct HiddenField: Sendable {
    public let words: (Int, Int, Int, Int)

    public init() { words = (1, 2, 3, 4) }
}
