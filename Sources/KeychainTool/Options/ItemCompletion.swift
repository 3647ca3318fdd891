internal import ArgumentParser
internal import KeychainClient
internal import KeychainModel

/// The words that a shell offers where a command line names items.
enum ItemCompletion {
    static let classOrName = CompletionKind.custom { line, _, _ in ItemClass.allValueStrings + names(line) }
    static let name = CompletionKind.custom { line, _, _ in names(line) }

    /// The names of all items that can be listed without asking a person.
    ///
    /// A shell has no place for a message, so that there are no names if the keychain cannot tell them.
    private static func names(_ line: [String]) -> [String] {
        Patience.ofProcess.parts = 1
        guard let session = try? KeychainSession.existing(store(of: line)) else { return [] }
        let items = ItemClass.stored.flatMap { itemClass in
            (try? session.find(ItemFilter.every.query(for: itemClass)).items) ?? []
        }
        return Set(items.flatMap(ItemName.names(of:))).filter(isPlain).sorted()
    }

    private static func store(of line: [String]) -> StoreOptions {
        func value(of option: String) -> String? {
            line.firstIndex(of: option).flatMap { $0 + 1 < line.count ? line[$0 + 1] : nil }
        }
        var options = StoreOptions()
        (options.storeDirectory, options.deviceKeyDirectory) = (value(of: "--store"), value(of: "--device-key"))
        options.owner = nil
        return options
    }

    /// Whether every shell takes the name for itself. bash expands the words that it is given to choose from: it would run
    /// a command in the name of an item.
    private static func isPlain(_ name: String) -> Bool {
        !name.isEmpty && !name.hasPrefix("-")
            && name.unicodeScalars.allSatisfy { ".-_@/+,".unicodeScalars.contains($0) || $0.properties.isAlphanumeric }
    }
}

extension Unicode.Scalar.Properties {
    fileprivate var isAlphanumeric: Bool {
        switch generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber: true
        default: false
        }
    }
}
