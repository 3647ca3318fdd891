internal import KeychainRun

extension SpawnedProgram {
    /// Starts a program, with the failure of a command that cannot.
    static func start(
        _ path: String, _ arguments: [String], variables: [String: String]? = nil,
        descriptors: (input: Int32, output: Int32, error: Int32), isApart: Bool = false
    ) throws(ToolFailure) -> SpawnedProgram {
        do throws(ProgramFailure) {
            return try SpawnedProgram(
                path, arguments, variables: variables, descriptors: descriptors, isApart: isApart)
        } catch {
            throw ToolFailure(message: error.message)
        }
    }
}
