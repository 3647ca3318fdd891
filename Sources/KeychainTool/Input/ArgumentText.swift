internal import ArgumentParser

/// The arguments as they were given.
enum ArgumentText {
    /// - Throws: if one is not UTF-8. Swift puts a replacement character in the place of such bytes, so something else
    ///   would be stored, or found and deleted, than was asked for.
    static func requireValid() throws(ValidationError) {
        for place in 1..<max(1, Int(CommandLine.argc)) {
            guard let argument = CommandLine.unsafeArgv[place] else { continue }
            if String(validatingCString: argument) == nil {
                throw ValidationError(
                    "argument \(place) is not UTF-8 text, and arguments are text; rename a file of such a name first.")
            }
        }
    }
}
