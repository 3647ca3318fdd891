/// Why the helper could not do its work, or what was wrong with what it found.
struct HelperFailure: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}
