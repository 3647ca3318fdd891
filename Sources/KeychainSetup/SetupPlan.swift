/// The changes that let a tool find its secrets in the keychain.
struct SetupPlan {
    var changes: [SetupChange] = []
    /// The notes for the person, on the meaning and the limits of the change.
    var notes: [String] = []
    /// false: the tool asks no helper.
    var isPossible = true
    /// false: because of other settings the tool does not ask the keychain.
    var isEffective = true

    /// - Parameter content: nil: the file is as it should be.
    mutating func change(_ file: SetupFile, _ content: SetupContent?) {
        if let content { changes.append(SetupChange(file, content)) }
    }
}
