/// The credential helpers of git's whole configuration, in the order in which git reads them.
struct GitHelpers {
    struct Helper: Equatable {
        /// The scope: "system", "global", "local" and so on.
        let scope: String
        /// The file, or git's words for another place.
        let origin: String
        /// The URLs that the helper is for; nil: all.
        let url: String?
        let value: String
    }

    private var all: [Helper]

    /// - Throws: ``SetupFailure`` for a configuration that git does not understand.
    static func present() throws -> GitHelpers {
        let (status, output) = try Git.run([
            "config", "--show-scope", "--show-origin", "-z", "--get-regexp", #"^credential\.(.+\.)?helper$"#,
        ])
        // The status 1 means that there is no helper.
        guard status == 0 || status == 1 else {
            throw SetupFailure(message: "git does not understand its configuration, or is older than 2.26")
        }
        return GitHelpers(output)
    }

    /// - Parameter output: Scope, origin, key and value of each, as git prints them.
    init(_ output: String) {
        let fields = output.split(separator: "\0", omittingEmptySubsequences: false).dropLast()
        all = stride(from: fields.startIndex, to: fields.endIndex - 2, by: 3).map { place in
            let entry = GitEntry(fields[place + 2])
            let url = entry.key.dropFirst("credential.".count).dropLast("helper".count).dropLast()
            let origin = fields[place + 1]
            return Helper(
                scope: String(fields[place]), origin: String(origin.hasPrefix("file:") ? origin.dropFirst(5) : origin),
                url: url.isEmpty ? nil : String(url), value: entry.value ?? "")
        }
    }

    /// The helpers with one more at the end of the user's own file. git reads it before those of a repository and of
    /// the command line.
    func adding(_ value: String, to path: String) -> GitHelpers {
        var helpers = self
        let place = all.lastIndex { ["system", "global"].contains($0.scope) }.map { $0 + 1 } ?? 0
        helpers.all.insert(Helper(scope: "global", origin: path, url: nil, value: value), at: place)
        return helpers
    }

    var urls: [String] { Set(all.compactMap(\.url)).sorted() }

    /// The helpers in the user's and the system's files.
    var ofUser: GitHelpers {
        var helpers = self
        helpers.all.removeAll { !["system", "global"].contains($0.scope) }
        return helpers
    }

    /// The helpers that git asks for a URL. An empty value takes back all helpers before it.
    func asked(for url: String? = nil) -> ArraySlice<Helper> {
        let meant = all.filter { $0.url == nil || $0.url == url }
        return meant.suffix(from: meant.lastIndex { $0.value.isEmpty }.map { $0 + 1 } ?? 0)
    }

    func asksOurs(for url: String? = nil) -> Bool { asked(for: url).contains { GitValue.isOurs($0.value) } }

    /// The place of the last empty value for a URL.
    private func reset(for url: String?) -> String? {
        all.last { ($0.url == nil || $0.url == url) && $0.value.isEmpty }?.origin
    }

    // MARK: For a person

    /// The notes on other helpers that git asks, and on the URLs for which it does not ask the keychain.
    var notes: [String] {
        ([nil] + urls).flatMap { url in
            let place = url.map { "for \(Self.withoutUser($0)) " } ?? ""
            let others = asked(for: url).filter { $0.url == url && !GitValue.isOurs($0.value) }.map { helper in
                "\(place)git has the helper '\(Self.name(helper.value))' too, and stores every password in it as well: take it "
                    + "out of \(helper.origin)"
            }
            // A URL has a note of its own only if git asks the keychain for other URLs.
            guard !asksOurs(for: url), url == nil || asksOurs() else { return others }
            return others + [
                "\(place)git does not ask the keychain: an empty credential helper in \(reset(for: url) ?? "its configuration") "
                    + "takes back those before it"
            ]
        }
    }

    /// The name of a helper alone, because the words behind it may have a password.
    private static func name(_ value: String) -> String {
        value.hasPrefix("!") ? "!…" : String(value.prefix { $0 != " " })
    }

    private static func withoutUser(_ url: String) -> String {
        guard let end = url.lastIndex(of: "@"), let start = url.firstRange(of: "//")?.upperBound, start < end else {
            return url
        }
        return String(url[..<start] + url[url.index(after: end)...])
    }
}
