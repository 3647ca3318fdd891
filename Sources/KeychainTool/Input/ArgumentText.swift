internal import ArgumentParser

/// The arguments of the command line, byte for byte.
enum ArgumentText {
    /// - Throws: if an argument is not UTF-8. Swift puts a replacement character in the place of such bytes, so the
    ///   command would store, or find and delete, another item than the person named.
    static func requireValid() throws(ValidationError) {
        guard CommandLine.argc > 0 else {
            throw ValidationError("A program in Swift reads its arguments from /proc, which is not mounted here.")
        }
        // The words of another program are passed on as they are.
        let end = commandStart ?? Int(CommandLine.argc)
        for place in 1..<end {
            guard let argument = CommandLine.unsafeArgv[place] else { continue }
            if String(validatingCString: argument) == nil {
                throw ValidationError(
                    "argument \(place) is not UTF-8 text, and arguments are text; rename a file of such a name first.")
            }
        }
    }

    /// The place of the first word of the program that 'run' starts: behind the first "--".
    static var commandStart: Int? {
        guard CommandLine.arguments.dropFirst().first == "run" else { return nil }
        return CommandLine.arguments.firstIndex(of: "--").map { $0 + 1 }
    }
}
