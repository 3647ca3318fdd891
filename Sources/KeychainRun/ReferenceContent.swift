/// The variables of a file that names secrets.
package enum ReferenceContent {
    case project(ProjectFile)
    case environment(EnvironmentFile)

    package var variables: [NamedValue] {
        switch self {
        case .project(let file): file.variables
        case .environment(let file): file.variables
        }
    }

    package var isProject: Bool { if case .project = self { true } else { false } }

    /// The command of a project, as a line for the shell.
    package var command: String? { if case .project(let file) = self { file.command } else { nil } }

    /// Whether a value may be shown. A value of an env file may be a secret, unless its variable decides what is run.
    package func shows(_ variable: NamedValue) -> Bool {
        isProject || ItemReference.isMeant(by: variable.value) || variable.decidesWhatIsRun
    }
}

extension NamedValue {
    private static let deciding: Set = [
        "PATH", "ENV", "BASH_ENV", "SHELL", "SHELLOPTS", "BASHOPTS", "IFS", "PS4", "PROMPT_COMMAND", "ZDOTDIR", "HOME",
        "PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "PERL5LIB", "PERL5OPT", "PERLLIB", "RUBYLIB", "RUBYOPT",
        "NODE_OPTIONS", "NODE_PATH", "JAVA_TOOL_OPTIONS", "GCONV_PATH", "EDITOR", "VISUAL", "PAGER", "GIT_SSH",
        "GIT_SSH_COMMAND", "GIT_EXEC_PATH", "GIT_ASKPASS", "SSH_ASKPASS", "MAKEFLAGS", "CC", "CXX", "RUSTC_WRAPPER",
    ]
    private static let decidingStarts = ["LD_", "BASH_FUNC_"]

    /// Whether programs are known to run something because of the variable.
    var decidesWhatIsRun: Bool {
        Self.deciding.contains(name) || Self.decidingStarts.contains { name.hasPrefix($0) }
    }
}
