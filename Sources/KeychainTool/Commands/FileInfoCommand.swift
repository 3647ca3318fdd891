internal import ArgumentParser
internal import DataProtectionCore
internal import FoundationEssentials
internal import KeychainModel
internal import KeychainSystem

struct FileInfoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info", abstract: "Tell what protects files, and whether they open now.",
        discussion: """
            Content is not looked at. What a file's header says is certain only if the file opens.

            Example:
              keychainctl file info notes.txt
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var arguments: PathArguments
    @Flag(help: "Print a JSON array; docs/cli.md lists the keys.") var json = false

    func run() throws {
        try TreeRun.start(store, arguments, .takenAlone, holdsSignals: false) { session, run in
            var inspection = Inspection(files: session.files, storeID: session.storeID)
            try run.perform(&inspection, nil)
            let reports = inspection.reports
            try Console.write(json ? reports.json.text + "\n" : reports.map(\.text).joined(separator: "\n"))
        }
    }
}

private struct Inspection: TreeOperation {
    let files: ProtectedFiles
    let storeID: UUID?
    var reports: [FileInfoReport] = []

    mutating func enter(_ directory: String, _: FileNumber?, below _: String) throws {
        reports.append(try FileInfoReport(directory, files, storeID))
    }

    mutating func perform(_ file: TreeWalk.FoundFile, below _: String) throws -> TreeRun.Outcome {
        reports.append(try FileInfoReport(file.path, files, storeID))
        return .done
    }
}

/// The report of `file info` on one file.
struct FileInfoReport: Report {
    static let fields: [Field<Self>] =
        [
            Field("path", "the path as given", term: "File") { $0.path },
            Field("kind", "`protected`, `plain`, `directory`; the keys behind `class` are there only for the first") {
                $0.kind
            },
            Field(
                "class",
                "a name as for `--class`; for a directory the class that it gives to new files; null if there is none",
                term: "Class", words: { Words($0.classInWords) }
            ) { $0.className },
        ] + ProtectedFileReport.fields.of(\.protected)

    private let path: String
    private var kind = "plain"
    /// nil: the file is a plain one, or a directory that gives no class.
    private var className: String?
    private var protected: ProtectedFileReport?

    /// - Parameter storeID: The identifier of the keychain in use; nil: there is no keychain.
    init(_ path: String, _ files: ProtectedFiles, _ storeID: UUID?) throws(DataProtectionError) {
        self.path = path
        let url = URL(namedByPerson: path)
        var isDirectory = false
        var protection: FileProtection?
        if FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory {
            kind = "directory"
            protection = try files.protection(of: url)
        } else if try files.isProtected(url) {
            let info = try files.info(of: url)
            kind = "protected"
            protection = info.protection
            protected = ProtectedFileReport(info: info, isThisKeychain: storeID.map { $0 == info.keychain })
        }
        className = protection.map { $0.name }
    }

    private var classInWords: String {
        switch (kind, className) {
        case ("directory", let name?): "new files in it get \(name)"
        case ("directory", nil):
            "a directory that gives none: new files in it get "
                + "\(FileProtection.completeUntilFirstUserAuthentication.name), if they are protected"
        case (_, let name): name ?? "- (a plain file; 'keychainctl file protect' encrypts it)"
        }
    }
}

/// The part of `file info` that only a protected file has.
struct ProtectedFileReport: Keyed {
    static let fields: [Field<Self>] = [
        .line("Opens") { Words($0.info.refusal.map { "no: \($0.message)" } ?? "yes") },
        size("length", "length of the content, in bytes", term: "Content") { $0.info.length },
        size("storedSize", "size of the file on the disk, in bytes", term: "On disk") { $0.info.storedSize },
        Field("opens", "whether the file opens now") { $0.info.refusal == nil },
        Field(
            "refusal",
            "why it does not open: `locked`, `wrongKey`, `tampered`, `truncated`, `keysUnavailable`, `newerFormat`, "
                + "`keychain`, `system`; null if it does"
        ) { $0.info.refusal?.code.rawValue },
        Field("reason", "the reason in words, or null") { $0.info.refusal?.message },
        Field(
            "bothHeaders", "whether both copies of its header are whole; one is enough", term: "Headers",
            words: { Words($0.headersInWords) }
        ) { $0.info.hasBothHeaders },
        Field(
            "keychain", "the id of the store that has its key", term: "Keychain", words: { Words($0.keychainInWords) }
        ) { $0.keychain },
        Field(
            "isThisKeychain",
            "whether that is this keychain's store; null if there is no keychain or it cannot be asked"
        ) { $0.isThisKeychain },
        Field(
            "keyGeneration", "counts the renewals of that store's keys", term: "Key",
            words: { "generation \($0.info.keyGeneration)" }
        ) { $0.info.keyGeneration },
        size("chunkSize", "size of a chunk, in bytes", term: "Chunks") { UInt64($0.info.chunkSize) },
        Field("fileID", "a UUID") { $0.info.identifier.uuidString.lowercased() },
    ]

    let info: ProtectedFileInfo
    /// nil: there is no keychain.
    let isThisKeychain: Bool?

    private static func size(
        _ key: String, _ meaning: String, term: String, _ value: @escaping @Sendable (Self) -> UInt64
    ) -> Field<Self> {
        Field(key, meaning, term: term, words: { Words(ByteCount.text(value($0))) }, value)
    }

    private var keychain: String { info.keychain.uuidString.lowercased() }

    private var keychainInWords: String {
        keychain + (isThisKeychain.map { $0 ? ", this one" : ", another one" } ?? "")
    }

    private var headersInWords: String {
        info.hasBothHeaders
            ? "both are whole"
            : "one of the two is damaged, and the other serves; 'keychainctl file class --set "
                + "\(info.protection.name)' writes both anew"
    }
}
