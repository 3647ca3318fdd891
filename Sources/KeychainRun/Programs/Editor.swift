internal import FoundationEssentials
internal import Glibc

/// The editor of the person: `VISUAL`, else `EDITOR`, else vi.
package struct Editor {
    private let command: String

    package init(_ variables: [String: String]) {
        command = [variables["VISUAL"], variables["EDITOR"]].compactMap(\.self).first { !$0.isEmpty } ?? "vi"
    }

    /// The editor's name, without directory and options.
    package var name: String {
        let program = command.split(separator: " ").first.map(String.init) ?? command
        return URL(fileURLWithPath: program).lastPathComponent
    }

    /// Options that keep an editor from writing the text anywhere else; nil: none are known for this editor.
    private var discretion: [String]? {
        switch name {
        // The options stop the swap file, the file of registers and marks, the copy before a write, and the undo file.
        case "vi", "vim", "view", "vim.basic", "vim.tiny", "vim.nox", "nvim":
            // The options come behind the person's own settings, which may differ.
            ["-n", "-i", "NONE", "-c", "set noswapfile nobackup nowritebackup noundofile"]
        case "nano", "rnano": ["--ignorercfiles"]
        // mg writes only the file. (ed writes another one when its terminal is closed.)
        case "mg": []
        case "micro": ["-backup", "false", "-savehistory", "false", "-saveundo", "false"]
        case "emacs", "emacs-nox":
            ["--quick", "--eval", "(setq make-backup-files nil auto-save-default nil create-lockfiles nil)"]
        default: nil
        }
    }

    /// Whether the editor is known to write only the file.
    package var isDiscreet: Bool { discretion != nil }

    /// Lets the person edit a file and waits for the end.
    ///
    /// - Throws: a ``ProgramFailure`` unless the editor ends with 0.
    package func edit(_ path: String) throws(ProgramFailure) {
        // A shell splits the command, as it does for every program that starts an editor. ^C is for the editor.
        let options = (discretion ?? []).map { "'\($0)'" }.joined(separator: " ")
        let before = [SIGINT, SIGQUIT].map { ($0, signal($0, SIG_IGN)) }
        defer { for (number, handler) in before { _ = signal(number, handler) } }
        let shell = try SpawnedProgram(
            "/bin/sh", ["-c", "\(command) \(options) \"$1\"", "sh", path],
            descriptors: (STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO))
        let status = shell.awaitEnd()
        guard status == 0 else {
            throw ProgramFailure(status: 1, "the editor (\(name)) ended with \(status); nothing was changed")
        }
    }
}
