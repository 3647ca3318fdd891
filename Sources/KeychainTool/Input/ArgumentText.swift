internal import ArgumentParser

/// The arguments as they were given.
enum ArgumentText {
    /// - Throws: if one is not UTF-8. Swift puts a replacement character in the place of such bytes, so something else
    ///   would be stored, or found and deleted, than was asked for.
    static func requireValid() throws(ValidationError) {
        // The words of another program are passed on as they are.
        let end = commandStart ?? max(1, Int(CommandLine.argc))
        for place in 1..<end {
            guard let argument = CommandLine.unsafeArgv[place] else { continue }
            if String(validatingCString: argument) == nil {
                throw ValidationError(
                    "argument \(place) is not UTF-8 text, and arguments are text; rename a file of such a name first.")
            }
        }
    }

    /// Where the words of the program begin that 'run' starts: behind the first "--".
    static var commandStart: Int? {
        guard CommandLine.arguments.dropFirst().first == "run" else { return nil }
        return CommandLine.arguments.firstIndex(of: "--").map { $0 + 1 }
    }
}
