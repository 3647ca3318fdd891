extension ProtectedFiles {
    /// Whether a file of this name is being written and has not its own name yet, or was left by a program that was killed.
    package static func isUnfinished(_ name: String) -> Bool { Replacement.isName(name) }

    /// Removes what calls in progress of this process have written so far. For a process that ends now: no such call
    /// may go on.
    package static func removeUnfinished() { Replacement.removeUnfinished() }
}
