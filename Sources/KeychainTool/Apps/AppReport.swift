internal import FoundationEssentials
internal import Glibc
internal import KeychainManifests
internal import KeychainModel
internal import KeychainSystem

/// A program that has a manifest, or a manifest whose program is not known.
struct AppReport: Report {
    static let fields: [Field<Self>] = [
        Field("kind", "`unit`, `group` or `user`; null if a faulty file does not tell", term: "Kind") { $0.kind },
        Field("name", "of the unit, the group or the user, or null", term: "Name") { $0.name },
        Field(
            "groups", "its access groups in order; new items go to the first; none with a fault", term: "Groups",
            words: { Words($0.groups.isEmpty ? "none" : $0.groups.joined(separator: ", ")) }
        ) { $0.groups },
        Field("file", "the path of the manifest", term: "Manifest") { $0.file },
        Field(
            "flaw", "why keychaind refuses the program, or null", term: "Fault",
            words: { report in report.flaw.map { "refused: the file \($0)" } }
        ) { $0.flaw },
    ]

    let subject: EntitlementManifest.Subject?
    let name: String?
    let groups: [String]
    let file: String
    let flaw: String?

    private init(_ manifest: EntitlementManifest) {
        (subject, name, groups) = (manifest.subject, manifest.subjectName, manifest.groups)
        (file, flaw) = (manifest.path, nil)
    }

    private init(_ flawed: ManifestFlaw) {
        (subject, groups, file, flaw) = (flawed.subject, [], flawed.path, flawed.text)
        name = flawed.subjectName
    }

    static func all(in directories: ManifestDirectories) -> [AppReport] {
        let (manifests, flaws) = directories.read()
        return (manifests.map(AppReport.init) + flaws.map(AppReport.init)).sorted { $0.file < $1.file }
    }

    private var kind: String? {
        switch subject {
        case .unit: "unit"
        case .group: "group"
        case .user: "user"
        case nil: nil
        }
    }

    /// A line of the list.
    var line: String {
        let program = kind.map { "\($0) \(name ?? "")" } ?? "unknown"
        let right = flaw.map { "refused: \(file) \($0)" } ?? groups.joined(separator: ", ")
        return TerminalText.escape("\(program): \(right)") + "\n"
    }
}

/// All that files tell of a program.
struct AppDetails: Report {
    static let fields: [Field<Self>] =
        AppReport.fields.of { $0.report } + [
            Field(
                "members", "of a group: the users that have it, who make it no identity", term: "Members",
                words: { Words($0.members.joined(separator: ", ")) }, when: { $0.group != nil }
            ) { $0.members }
            .shown { !$0.members.isEmpty },
            Field(
                "programs",
                "of a group: the files in the directories of PATH that give it: `path`, `rootOwned` (nobody "
                    + "else can write it) and `takesEffect` (its file system is mounted without `nosuid`)",
                term: "Programs",
                words: {
                    $0.programs.isEmpty
                        ? "none in the directories of PATH"
                        : Words($0.programs[0].words, remarks: $0.programs.dropFirst().map(\.words))
                },
                when: { $0.group != nil }
            ) { $0.programs.map(\.json) }.shown { $0.group != nil },
        ]

    let report: AppReport
    let group: gid_t?
    let members: [String]
    let programs: [SetgidProgram]

    init(_ report: AppReport) throws(SystemError) {
        self.report = report
        if case .group(let group)? = report.subject { self.group = group } else { group = nil }
        members = try group.map(AccountDatabase.members(of:)) ?? []
        programs = group.map(SetgidProgram.all) ?? []
    }
}

/// A file that gives its group to the process that runs it.
struct SetgidProgram {
    let path: String
    let isRoots: Bool
    let takesEffect: Bool

    var words: String {
        path + (isRoots ? "" : ", which others than root can change") + (takesEffect ? "" : ", without effect (nosuid)")
    }

    var json: JSONValue {
        .object([("path", path.json), ("rootOwned", isRoots.json), ("takesEffect", takesEffect.json)])
    }

    static func all(of group: gid_t) -> [SetgidProgram] {
        var seen: Set<FileNumber> = []
        return SearchPath(Environment.process.variables["PATH"]).directories.flatMap { directory in
            fileNames(in: directory).compactMap { program(FilePath.join(directory, $0), group, &seen) }
        }
    }

    private static func program(_ path: String, _ group: gid_t, _ seen: inout Set<FileNumber>) -> SetgidProgram? {
        var (status, mount) = (stat(), statvfs())
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_gid == group,
            // Without the group's right to run it, the bit means a kind of lock.
            status.st_mode & (S_ISGID | S_IXGRP) == S_ISGID | S_IXGRP, seen.insert(FileNumber(status)).inserted,
            statvfs(path, &mount) == 0
        else { return nil }
        return SetgidProgram(
            path: path, isRoots: status.st_uid == 0 && status.st_mode & 0o022 == 0,
            takesEffect: mount.f_flag & UInt(ST_NOSUID) == 0)
    }
}

private func fileNames(in directory: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).sorted()
}
