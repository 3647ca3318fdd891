/// A failure of the command itself, which no status of Apple's describes.
struct ToolFailure: Error {
    /// nil: there is nothing to say, or nobody to say it to.
    var message: String?
}
