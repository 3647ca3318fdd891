import Foundation
import KeychainModel
import KeychainTestSupport
import Testing

@testable import KeychainTool

/// The tables of JSON keys in docs/cli.md.
@Suite struct KeyTableTests {
    private static let page = Repository.file("docs/cli.md")

    private static let tables: [String: [String]] = [
        "AppDetails": rows(AppDetails.self), "AppReport": rows(AppReport.self),
        "MigrationReport": rows(MigrationReport.self),
        "BackupReport": rows(BackupReport.self), "ConversionReport": rows(ConversionReport.self),
        "FileCheckReport": rows(FileCheckReport.self), "FileCheckSummary": rows(FileCheckSummary.self),
        "FileInfoReport": rows(FileInfoReport.self), "RehearsalReport": rows(RehearsalReport.self),
        "CallerReport": rows(CallerReport.self), "CertificateEnd": rows(CertificateEnd.self),
        "Diagnosis": rows(Diagnosis.self),
        "ExportReport": rows(ExportReport.self), "FailureReport": rows(FailureReport.self),
        "ImportReport": rows(ImportReport.self), "Item": rows(Item.self), "LockStatus": rows(LockStatus.self),
        "StatusReport": rows(StatusReport.self), "TrustReport": rows(TrustReport.self),
        "TrustReport.Link": rows(TrustReport.Link.self),
    ]

    private static func rows<Subject: Keyed>(_ type: Subject.Type) -> [String] {
        Subject.fields.compactMap { field in field.key.map { "| `\($0)` | \(field.meaning) |" } }
    }

    @Test("Each table of keys has the fields of its report; with KEYCHAIN_WRITE_TABLES set it gets them")
    func tables() throws {
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        var named: [String] = []
        var written: [String] = []
        var isInTable = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if isInTable, line.hasPrefix("|") { continue }
            isInTable = false
            written.append(line)
            guard let mark = line.wholeMatch(of: /<!-- keys of ([\w.]+), written by KeyTableTests -->/) else {
                continue
            }
            let name = String(mark.1)
            named.append(name)
            written += ["| key | value |", "|---|---|"] + (try #require(Self.tables[name], "no report \(name)"))
            isInTable = true
        }
        #expect(named.sorted() == Self.tables.keys.sorted())
        if ProcessInfo.processInfo.environment["KEYCHAIN_WRITE_TABLES"] != nil {
            try written.joined(separator: "\n").write(to: Self.page, atomically: true, encoding: .utf8)
        } else {
            #expect(written.joined(separator: "\n") == text, "run it with KEYCHAIN_WRITE_TABLES=1")
        }
    }

    @Test("The page names every key of every report")
    func names() throws {
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        // The package may be built from a directory of links.
        let sources = Repository.file("Sources").resolvingSymlinksInPath()
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        var keys: Set<String> = []
        for case let file as URL in files where file.pathExtension == "swift" {
            let source = try String(contentsOf: file, encoding: .utf8)
            keys.formUnion(source.matches(of: /Field(?:<\w+>)?\(\s*"(\w+)"/).map { String($0.1) })
        }
        #expect(keys.count > 40)
        #expect(keys.filter { !text.contains("`\($0)`") && !text.contains("\"\($0)\":") }.sorted() == [])
    }
}
