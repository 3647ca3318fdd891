import DataProtection
import DataProtectionCore
import Foundation
import KeychainTestSupport
import Testing

/// What the members that the plugin generates call, where something is written.
@Suite struct FoundationWritingTests {
    static let classes: [(Data.WritingOptions, FileProtection)] = [
        (.noFileProtection, .always), (.completeFileProtection, .complete),
        (.completeFileProtectionUnlessOpen, .completeUnlessOpen),
        (.completeFileProtectionUntilFirstUserAuthentication, .completeUntilFirstUserAuthentication),
        (.completeFileProtectionWhenUserInactive, .completeWhenUserInactive),
    ]

    @Test(
        "Each option gives its class, with every other option",
        arguments: classes,
        [[], .atomic, .withoutOverwriting, [.atomic, .withoutOverwriting]] as [Data.WritingOptions])
    func options(asked: (Data.WritingOptions, FileProtection), others: Data.WritingOptions) throws {
        try withFoundationFiles { files, directory, _ throws in
            let url = directory.appendingPathComponent("file")
            try FoundationFiles.write(note, to: url, options: asked.0.union(others))
            #expect(try files.protection(of: url) == asked.1)
            #expect(try Data(contentsOf: url).range(of: note) == nil)
            #expect(try FoundationFiles.data(contentsOf: url, options: []) == note)

            if others.contains(.withoutOverwriting) {
                #expect(failure { try FoundationFiles.write(Data(), to: url, options: asked.0.union(others)) } == 516)
            } else {
                try FoundationFiles.write(Data("b".utf8), to: url, options: asked.0.union(others))
            }
            #expect(try files.protection(of: url) == asked.1)
        }
    }

    @Test("A number that is no class is an error, and nothing is written", arguments: 6...15 as ClosedRange<UInt>)
    func unknownOptions(number: UInt) throws {
        try withFoundationFiles { _, directory, _ throws in
            let url = directory.appendingPathComponent("file")
            let options = Data.WritingOptions(rawValue: number << 28)
            let error = #expect(throws: CocoaError.self) { try FoundationFiles.write(note, to: url, options: options) }
            #expect(error?.code == .fileWriteUnknown)
            #expect((error?.underlying as? DataProtectionError)?.code == .invalidOption)
            #expect(!FileManager.default.fileExists(atPath: url.path))
        }
    }

    @Test("With a class asked for, a path that names no file is an error, and nothing is written")
    func noFile() throws {
        try withFoundationFiles { _, directory, _ throws in
            let path = directory.path + "/d\0e"
            let asked: [FileAttributeKey: Any] = [.protectionKey: FileProtectionType.complete]
            #expect(!FoundationFiles.createFile(.default, atPath: path, contents: note, attributes: asked))
            #expect(!FoundationFiles.createFile(.default, atPath: "", contents: note, attributes: asked))
            for body in [
                { try FoundationFiles.write(note as NSData, toFile: path, options: .completeFileProtection) },
                {
                    try FoundationFiles.write(
                        note, to: URL(string: "file://\(directory.path)/d%00e")!, options: .completeFileProtection)
                },
                {
                    try FoundationFiles.write(
                        note, to: URL(string: "https://example.com/d")!, options: .completeFileProtection)
                },
                {
                    try FoundationFiles.createDirectory(
                        .default, atPath: path, withIntermediateDirectories: true, attributes: asked)
                },
            ] as [() throws -> Void] {
                #expect(throws: (any Error).self) { try body() }
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
        }
    }

    @Test("A damaged protected file is written anew, protected")
    func damaged() throws {
        try withFoundationFiles { files, directory, _ throws in
            let url = directory.appendingPathComponent("file")
            try files.write(note, to: url, protection: .complete)
            var bytes = try Data(contentsOf: url)
            for index in 64..<4096 { bytes[index] ^= 0x55 }
            try bytes.write(to: url)
            #expect(throws: DataProtectionError.self) { try files.read(from: url) }
            try FoundationFiles.write(note, to: url, options: .atomic)
            #expect(try files.protection(of: url) == .complete)
            #expect(try files.read(from: url) == note)
        }
    }

    @Test("Without a word a protected file keeps its class, however it is written", arguments: FileProtection.allCases)
    func keepsItsClass(protection: FileProtection) throws {
        try withFoundationFiles { files, directory, _ throws in
            let url = directory.appendingPathComponent("file")
            try files.write(Data(), to: url, protection: protection)
            let link = directory.appendingPathComponent("link")
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: url)
            let ways: [() throws -> Void] = [
                { try FoundationFiles.write(note, to: url, options: []) },
                { try FoundationFiles.write(note, to: url, options: .atomic) },
                { try FoundationFiles.write(note, to: link, options: []) },
                { try FoundationFiles.write(note as NSData, to: url, options: []) },
                { try FoundationFiles.write(note as NSData, toFile: url.path, options: .atomic) },
                { try FoundationFiles.write(text, to: url, atomically: true, encoding: .utf8) },
                { try FoundationFiles.write(text, toFile: url.path, atomically: false, encoding: .utf8) },
                { #expect(FoundationFiles.createFile(.default, atPath: url.path, contents: note, attributes: nil)) },
            ]
            for way in ways {
                try FoundationFiles.write(Data(), to: url, options: [])
                try way()
                #expect(try files.protection(of: url) == protection)
                #expect(try files.read(from: url) == note)
            }
        }
    }

    @Test("A new file gets its directory's class; elsewhere it is plain, as Foundation makes it")
    func directoryClass() throws {
        try withFoundationFiles { files, directory, _ throws in
            let plain = directory.appendingPathComponent("plain")
            try FoundationFiles.write(note, to: plain, options: .atomic)
            #expect(try Data(contentsOf: plain) == note)

            try FoundationFiles.createDirectory(
                .default, at: directory.appendingPathComponent("a/b/c"), withIntermediateDirectories: true,
                attributes: [.protectionKey: FileProtectionType.complete, .posixPermissions: 0o700])
            for (index, name) in ["a", "a/b", "a/b/c"].enumerated() {
                let inner = directory.appendingPathComponent(name)
                #expect(try files.protection(of: inner) == .complete)
                #expect(try permissions(of: inner) == 0o700)
                let url = inner.appendingPathComponent("file\(index)")
                try FoundationFiles.write(text, to: url, atomically: false, encoding: .utf8)
                #expect(try files.protection(of: url) == .complete)
            }
            // As the parent's, for want of another.
            let inherited = directory.appendingPathComponent("a/d").path
            try FoundationFiles.createDirectory(
                .default, atPath: inherited + "/", withIntermediateDirectories: false, attributes: nil)
            #expect(try files.protection(of: URL(fileURLWithPath: inherited)) == .complete)
            let attributes = try FoundationFiles.attributesOfItem(.default, atPath: inherited)
            #expect((attributes[.protectionKey] as? FileProtectionType)?.rawValue == "NSFileProtectionComplete")
            // A plain directory that was there before.
            let old = directory.appendingPathComponent("old")
            try FileManager.default.createDirectory(at: old, withIntermediateDirectories: false)
            for value in [FileProtectionType.completeUnlessOpen, .complete] {
                try FoundationFiles.createDirectory(
                    .default, at: old, withIntermediateDirectories: true, attributes: [.protectionKey: value])
            }
            #expect(try files.protection(of: old) == .completeUnlessOpen)
        }
    }

    @Test("createFile protects, sets the other attributes too, and answers false to what it cannot do")
    func createFile() throws {
        try withFoundationFiles { files, directory, _ throws in
            let url = directory.appendingPathComponent("file")
            #expect(
                FoundationFiles.createFile(
                    .default, atPath: url.path, contents: note,
                    attributes: [.protectionKey: FileProtectionType.complete, .posixPermissions: 0o600]))
            #expect(try files.protection(of: url) == .complete)
            #expect(try files.read(from: url) == note)
            #expect(try permissions(of: url) == 0o600)
            #expect(FoundationFiles.createFile(.default, atPath: url.path, contents: nil, attributes: nil))
            #expect(try files.read(from: url) == Data())
            let refused: [(String, Any)] = [
                (url.path, FileProtectionType(rawValue: "NSFileProtectionMuch")), (url.path, 3),
                (directory.path, FileProtectionType.complete),
                ("", FileProtectionType.complete), (directory.path + "/none/file", FileProtectionType.complete),
            ]
            for (path, value) in refused {
                #expect(
                    !FoundationFiles.createFile(
                        .default, atPath: path, contents: note, attributes: [.protectionKey: value]))
            }
        }
    }

    @Test("A path that begins with a tilde is not the home")
    func tilde() throws {
        try withFoundationFiles { files, directory, _ throws in
            let path = directory.path + "/~root"
            #expect(
                FoundationFiles.createFile(
                    .default, atPath: path, contents: note, attributes: [.protectionKey: FileProtectionType.complete]))
            #expect(FoundationFiles.contents(.default, atPath: path) == note)
        }
    }

    @Test("A pipe, a directory and what is no file are refused, never written in plain")
    func noFiles() throws {
        try withFoundationFiles { _, directory, _ throws in
            let pipe = directory.appendingPathComponent("pipe")
            try #require(mkfifo(pipe.path, 0o600) == 0)
            for url in [pipe, directory] {
                #expect(failure { try FoundationFiles.write(note, to: url, options: .completeFileProtection) } == 512)
            }
            let web = try #require(URL(string: "https://example.invalid/"))
            #expect(failure { try FoundationFiles.write(note, to: web, options: .completeFileProtection) } == 512)
            #expect(
                failure { try FoundationFiles.write(note, to: web, options: []) } == failure { try note.write(to: web) }
            )
        }
    }
}

extension FoundationWritingTests {
    @Test(
        "A file that cannot be looked into is not replaced in plain, since it may be protected",
        .enabled(if: geteuid() != 0, "root looks into every file"))
    func unreadable() throws {
        try withFoundationFiles { files, directory, _ throws in
            let url = directory.appendingPathComponent("file")
            try files.write(note, to: url, protection: .complete)
            // Too short to be protected.
            let short = directory.appendingPathComponent("short")
            try note.write(to: short)
            for file in [url, short] { try #require(chmod(file.path, 0o200) == 0) }
            #expect(failure { _ = try FoundationFiles.data(contentsOf: url, options: []) } == 257)
            for options in [[], .atomic] as [Data.WritingOptions] {
                #expect(failure { try FoundationFiles.write(Data(), to: url, options: options) } == 513)
            }
            #expect(failure { try FoundationFiles.write("", to: url, atomically: true, encoding: .utf8) } == 513)
            try FoundationFiles.write(Data("b".utf8), to: short, options: [])
            for file in [url, short] { try #require(chmod(file.path, 0o600) == 0) }
            #expect(try files.read(from: url) == note)
            #expect(try Data(contentsOf: short) == Data("b".utf8))
        }
    }
}

/// What the members that the plugin generates call, where attributes and resource values are set and asked for.
@Suite struct FoundationAttributesTests {
    @Test("Attributes give a plain file a class and a protected one another", arguments: FileProtection.allCases)
    func attributes(protection: FileProtection) throws {
        try withFoundationFiles { files, directory, _ throws in
            let url = directory.appendingPathComponent("file")
            try note.write(to: url)
            let plain = try FoundationFiles.attributesOfItem(.default, atPath: url.path)
            #expect(plain[.protectionKey] == nil)
            #expect(plain[.size] as? Int == note.count)
            let type = FileProtectionType(rawValue: "NSFileProtection" + capitalised(protection))
            for value in [FileProtectionType.completeUnlessOpen, type, type.rawValue] as [Any] {
                try FoundationFiles.setAttributes(
                    .default, [.protectionKey: value, .posixPermissions: 0o640], ofItemAtPath: url.path)
            }
            #expect(try files.protection(of: url) == protection)
            #expect(try files.read(from: url) == note)
            let attributes = try FoundationFiles.attributesOfItem(.default, atPath: url.path)
            #expect((attributes[.protectionKey] as? FileProtectionType)?.rawValue == type.rawValue)
            #expect(attributes[.size] as? Int == note.count)
            #expect(attributes[.posixPermissions] as? Int == 0o640)

            #expect(failure { try set("NSFileProtectionMuch", url) } == 512)
            #expect(FileProtectionType.completeWhenUserInactive == .inactive)
            let inactive = URLFileProtection.completeWhenUserInactive
            #expect(inactive.rawValue == "NSURLFileProtectionCompleteWhenUserInactive")
            #expect(failure { try set(FileProtectionType.complete, directory.appendingPathComponent("no")) } == 4)
            #expect(try files.protection(of: url) == protection)
        }
    }

    private func set(_ value: Any, _ url: URL) throws {
        try FoundationFiles.setAttributes(.default, [.protectionKey: value], ofItemAtPath: url.path)
    }

    @Test("Resource values do the same, with their own names", arguments: FileProtection.allCases)
    func resourceValues(protection: FileProtection) throws {
        try withFoundationFiles { files, directory, _ throws in
            let url = directory.appendingPathComponent("file")
            try note.write(to: url)
            let reference = url as NSURL
            #expect(try asked(reference) == nil)
            #expect(try FoundationFiles.resourceValues(forKeys: [.fileProtectionKey], of: url).fileProtection == nil)

            let wanted = URLFileProtection(rawValue: "NSURLFileProtection" + capitalised(protection))
            try FoundationFiles.setResourceValue(URLFileProtection.complete, forKey: .fileProtectionKey, of: reference)
            #expect(try files.protection(of: url) == .complete)
            try FoundationFiles.setResourceValues([.fileProtectionKey: wanted], of: reference)
            #expect(try files.protection(of: url) == protection)

            #expect(try asked(reference) as? URLFileProtection == wanted)
            #expect(try asked(reference) as? String == wanted.rawValue)
            let dictionary = try FoundationFiles.resourceValues(
                forKeys: [.fileProtectionKey, .isRegularFileKey], of: reference)
            #expect(dictionary[.fileProtectionKey] as? URLFileProtection == wanted)
            #expect(dictionary[.isRegularFileKey] as? Bool == true)
            let values = try FoundationFiles.resourceValues(forKeys: [.fileProtectionKey, .isRegularFileKey], of: url)
            #expect(values.fileProtection == wanted)
            #expect(values.isRegularFile == true)

            for wrong in [nil, 7, "NSFileProtectionComplete", URLFileProtection(rawValue: "")] as [Any?] {
                #expect(
                    failure {
                        try FoundationFiles.setResourceValue(wrong, forKey: .fileProtectionKey, of: reference)
                    } == 512)
            }
            let missing = directory.appendingPathComponent("missing")
            #expect(
                failure {
                    try FoundationFiles.setResourceValue(
                        URLFileProtection.complete, forKey: .fileProtectionKey, of: missing as NSURL)
                } == 4)
            #expect(
                failure { _ = try FoundationFiles.resourceValues(forKeys: [.fileProtectionKey], of: missing) } == 260)
        }
    }

    private func asked(_ url: NSURL) throws -> AnyObject? {
        var value: AnyObject?
        try FoundationFiles.getResourceValue(&value, forKey: .fileProtectionKey, of: url)
        return value
    }
}

let text = "dear diary, nobody is to read this"
let note = Data(text.utf8)

/// Runs `body` with a keychain that is the process's own, as it is for a client of the plugin.
func withFoundationFiles(_ body: (ProtectedFiles, URL, TestKeychain) throws -> Void) throws {
    try withProtectedFiles { (files, directory, keychain: TestKeychain) in
        try keychain.asCaller(groups: ["G"]) { try body(files, directory, keychain) }
    }
}

/// The code of the Cocoa error that `body` ends with; nil: it succeeds.
func failure(_ body: () throws -> Void) -> Int? {
    do {
        try body()
        return nil
    } catch {
        return (error as? CocoaError)?.code.rawValue ?? -1
    }
}

func permissions(of url: URL) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
}

private func capitalised(_ protection: FileProtection) -> String {
    protection.rawValue.prefix(1).uppercased() + protection.rawValue.dropFirst()
}
