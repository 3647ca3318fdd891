package import FoundationEssentials

/// A setting, in the terms of the file's format.
package enum SetupContent: Codable, Equatable {
    case line(ConfigurationSetting)
    case member(JSONMember)
    case value(GitValue)
    case link(target: String)

    /// - Throws: ``SetupFailure``, with the end of a sentence that begins with the file, if the setting is impossible, or
    ///   could not be taken back byte for byte.
    package func applied(to content: Data) throws -> Data {
        let new =
            switch self {
            case .line(let setting): try setting.applied(to: content)
            case .member(let member): try member.applied(to: content)
            case .value(let value): try value.applied(to: content)
            case .link: content
            }
        guard try takenBack(from: new) == content else {
            throw SetupFailure(message: "is written in a way that --undo could not bring back")
        }
        return new
    }

    /// nil: nothing of the setting is there.
    ///
    /// - Throws: ``SetupFailure``, as ``applied(to:)`` does, if the setting is there in another form.
    package func takenBack(from content: Data) throws -> Data? {
        switch self {
        case .line(let setting): try setting.takenBack(from: content)
        case .member(let member): try member.takenBack(from: content)
        case .value(let value): try value.takenBack(from: content)
        case .link: content
        }
    }

    /// Whether a file with this content means the same as no file.
    func isNothing(_ content: Data) -> Bool {
        let text = String(decoding: content, as: UTF8.self)
        if text.allSatisfy(\.isWhitespace) { return true }
        if case .member = self { return JSONText(text)?.isEmpty ?? false }
        return false
    }

    /// The lines that show the setting to a person.
    var lines: (removed: [String], added: [String]) {
        switch self {
        case .line(let setting): ([setting.replaced].compactMap(\.self), [setting.line])
        case .member(let member): ([member.replacedLine].compactMap(\.self), [member.line])
        case .value(let value): ([], [value.line])
        case .link(let target): ([], ["link to \(target)"])
        }
    }
}
