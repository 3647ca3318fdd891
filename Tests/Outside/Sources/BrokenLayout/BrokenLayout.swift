// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

@_implementationOnly import HiddenField

/// A type with the mistake: clients leave out the property whose type they do not see, and compute 8 bytes instead of 40.
public struct BrokenStructure: Sendable {
    public let identifier: Int
    let field: HiddenField

    public init(identifier: Int) {
        self.identifier = identifier
        field = HiddenField()
    }
}

/// The mend: a reference has one size, whatever it leads to.
public struct SoundStructure: Sendable {
    private final class Hidden: Sendable {
        let field = HiddenField()
    }

    public let identifier: Int
    private let hidden = Hidden()

    public init(identifier: Int) { self.identifier = identifier }
}
