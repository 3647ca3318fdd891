internal import Glibc
internal import KeychainSystem

/// A program that holds the clipboard of a desktop until the person copies something else.
package enum ClipboardProgram: String, CaseIterable {
    case wlCopy = "wl-copy"
    case xclip, xsel

    /// - Throws: a ``ProgramFailure`` if there is no desktop, or no program for it.
    package static func found(_ variables: [String: String]) throws(ProgramFailure) -> ClipboardProgram {
        let isWayland = variables["WAYLAND_DISPLAY"]?.isEmpty == false
        let isX11 = variables["DISPLAY"]?.isEmpty == false
        guard isWayland || isX11 else {
            throw ProgramFailure(
                status: 1,
                "there is no desktop here whose clipboard could be used: neither WAYLAND_DISPLAY nor DISPLAY is "
                    + "set. --osc52 asks the terminal to do it")
        }
        let usable = (isWayland ? [ClipboardProgram.wlCopy] : []) + (isX11 ? [.xclip, .xsel] : [])
        if let program = usable.first(where: { $0.path(variables) != nil }) { return program }
        throw ProgramFailure(
            status: 1,
            "no program for the clipboard is installed: this desktop needs "
                + (isWayland ? "wl-copy (package wl-clipboard)" : "xclip or xsel"))
    }

    /// nil: the program is not in the path.
    private func path(_ variables: [String: String]) -> String? { SearchPath(variables["PATH"]).program(rawValue) }

    /// Starts the program in the foreground. It ends when it loses the clipboard. Its standard input is the secret.
    package func start(
        _ variables: [String: String], input: Int32, discard: Int32
    ) throws(ProgramFailure) -> SpawnedProgram {
        var variables = variables
        // wl-copy keeps the secret in a file, which must not be on a disk.
        if self == .wlCopy, let directory = variables["XDG_RUNTIME_DIR"], !directory.isEmpty {
            variables["TMPDIR"] = directory
        }
        return try SpawnedProgram(
            try installed(variables), try copying(variables, discard), variables: variables,
            descriptors: (input, discard, discard))
    }

    private func copying(_ variables: [String: String], _ discard: Int32) throws(ProgramFailure) -> [String] {
        switch self {
        case .wlCopy:
            let hint = try knowsSensitive(variables, discard) ? ["--sensitive"] : []
            return ["--foreground", "--type", "text/plain"] + hint
        case .xclip: return ["-quiet", "-selection", "clipboard"]
        case .xsel: return ["--clipboard", "--input", "--nodetach"]
        }
    }

    /// Whether this wl-copy can ask clipboard managers to keep the secret out of their history
    /// (x-kde-passwordManagerHint).
    private func knowsSensitive(_ variables: [String: String], _ discard: Int32) throws(ProgramFailure) -> Bool {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return false }
        let help = try SpawnedProgram(
            try installed(variables), ["--help"], variables: variables, descriptors: (discard, ends[1], discard))
        close(ends[1])
        defer { close(ends[0]) }
        let text = OpenDescriptor.content(of: ends[0])
        _ = help.awaitEnd()
        return String(decoding: text ?? [], as: UTF8.self).contains("--sensitive")
    }

    private func installed(_ variables: [String: String]) throws(ProgramFailure) -> String {
        if let path = path(variables) { return path }
        throw ProgramFailure(status: 1, "\(rawValue) is not installed any more")
    }

    /// Empties the clipboard while the program still holds it.
    package func clear(_ owner: SpawnedProgram, _ variables: [String: String], discard: Int32) throws(ProgramFailure) {
        // wl-copy removes its file only when another one takes the clipboard.
        if self == .wlCopy {
            let cleaner = try SpawnedProgram(
                try installed(variables), ["--clear"], variables: variables, descriptors: (discard, discard, discard))
            if !cleaner.hasEnded(within: 2_000) { cleaner.terminate() }
            _ = cleaner.awaitEnd()
            if owner.hasEnded(within: 1_000) { return }
        }
        owner.terminate()
        _ = owner.awaitEnd()
    }
}
