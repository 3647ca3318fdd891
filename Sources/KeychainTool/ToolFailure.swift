/// A failure of the command itself, which no status of Apple's describes.
struct ToolFailure: Error {
    /// nil: the failure needs no message, or cannot be shown.
    var message: String?
}
