internal import ArgumentParser
internal import KeychainModel

/// The conditions under which a new item can be read or used.
struct ItemProtection: ParsableArguments {
    @Option(help: "When the secret can be read (default: when-unlocked).") var accessible: Protection?
    @Option(help: "What reading the secret asks of a person; may be given several times, and all are needed then.")
    var require: [AccessControl.Flags] = []
    @Flag(help: "One of several --require is enough.") var either = false

    func validate() throws { _ = try accessControl() }

    /// nil: the usual one of the class.
    func accessControl() throws -> AccessControl? {
        if require.isEmpty && !either { return accessible.map { AccessControl($0) } }
        return try accessControl(adding: [])
    }

    /// The access control for the use of a key in the engine.
    func accessControlOfUse() throws -> AccessControl { try accessControl(adding: .privateKeyUsage) }

    /// - Throws: a mistake on the command line, if the conditions do not go together.
    private func accessControl(adding others: AccessControl.Flags) throws -> AccessControl {
        var flags = others.union(AccessControl.Flags(require))
        let constraints = Set(require).subtracting([.applicationPassword])
        if either {
            guard constraints.count > 1 else {
                throw ValidationError("--either is for several --require, the application password not counted.")
            }
            flags.insert(.or)
        } else if constraints.count > 1 {
            flags.insert(.and)
        }
        do throws(KeychainError) {
            return try AccessControl(accessible ?? .whenUnlocked, flags: flags)
        } catch {
            throw ValidationError("These --require do not go together: \(error.message).")
        }
    }
}
