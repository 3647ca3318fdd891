extension ProtectedFiles {
    /// Whether a file of this name is still being written, or was left by a program that was killed.
    package static func isUnfinished(_ name: String) -> Bool { Replacement.isName(name) }

    /// Removes the files that calls of this process are writing, for a process that ends now. These calls must not go
    /// on.
    package static func removeUnfinished() { Replacement.removeUnfinished() }
}
