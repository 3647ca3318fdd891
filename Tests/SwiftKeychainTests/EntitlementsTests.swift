import Foundation
import KeychainModel
import KeychainSystem
import KeychainTestSupport
import Testing

@testable import KeychainClient
@testable import SwiftKeychain

@Suite struct EntitlementsTests {
    private func groups(_ entries: [String: Any], _ format: PropertyListSerialization.PropertyListFormat) throws
        -> [String]
    {
        let bytes = try PropertyListSerialization.data(fromPropertyList: entries, format: format, options: 0)
        return try Entitlements(propertyList: bytes, from: "a file").groups
    }

    @Test(
        "T11.9 Groups come in Apple's order, each once, the token group last",
        arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func order(format: PropertyListSerialization.PropertyListFormat) throws {
        let groups = try groups(
            [
                "com.apple.security.application-groups": ["group.a", "one"],
                "application-identifier": "app",
                "com.apple.application-identifier": "not this one",
                "com.apple.developer.associated-application-identifier": ["associated"],
                "keychain-access-groups": ["com.apple.token", "one", "two"],
            ], format)
        #expect(groups == ["one", "two", "associated", "app", "group.a", "com.apple.token"])
    }

    @Test("An entry of the wrong type, or with a build setting, is said and never dropped")
    func flaws() throws {
        let entries: [(String, any Sendable, String)] = [
            ("keychain-access-groups", "group", "keychain-access-groups is not an array of strings"),
            ("keychain-access-groups", [1, 2], "keychain-access-groups is not an array of strings"),
            ("com.apple.security.application-groups", "g", "application-groups is not an array of strings"),
            ("application-identifier", ["app"], "application-identifier is not a string"),
            (
                "keychain-access-groups", ["one", "$(AppIdentifierPrefix)two"],
                "has $(AppIdentifierPrefix)two: only Xcode"
            ),
            ("keychain-access-groups", ["${TeamIdentifierPrefix}one"], "has ${TeamIdentifierPrefix}one: only Xcode"),
            ("com.apple.application-identifier", "$(CFBundleIdentifier)", "has $(CFBundleIdentifier): only Xcode"),
        ]
        for (key, value, text) in entries {
            let error = #expect(throws: KeychainError.self) {
                try groups([key: value, "com.apple.developer.associated-application-identifier": ["app"]], .xml)
            }
            #expect(error?.code == .notAvailable && error?.message.contains("a file") == true)
            #expect(error?.message.contains(text) == true, "\(error?.message ?? "")")
        }
    }

    @Test("Bytes that are no property list with a dictionary are refused", arguments: ["", "<plist", "[]"])
    func malformed(text: String) {
        let error = #expect(throws: KeychainError.self) {
            try Entitlements(propertyList: Data(text.utf8), from: "a file")
        }
        #expect(error?.code == .notAvailable)
    }
}

@Suite struct CallerIdentityTests {
    private func process(_ directory: URL, embedded: Data = Data(), bundle: String? = nil) -> ProcessDescription {
        ProcessDescription(
            executable: directory.appendingPathComponent("mytool").path, bundleIdentifier: bundle,
            embeddedSection: embedded)
    }

    @Test("A program's bundle is the one that Foundation finds")
    func bundle() throws {
        try withTemporaryDirectory { root in
            func write(_ identifier: String, to place: URL) throws {
                try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
                let plist = try PropertyListSerialization.data(
                    fromPropertyList: ["CFBundleIdentifier": identifier, "CFBundleVersion": 7], format: .xml, options: 0
                )
                try plist.write(to: place.appendingPathComponent("Info.plist"))
            }
            let layouts = [
                "bin": [
                    [], ["."], ["Contents"], ["Resources"], [".", "Contents"], [".", "Resources"],
                    ["Contents", "Resources"], ["mytool.resources"], [".", "mytool.resources"],
                    ["../share/mytool.resources"],
                ],
                "A.app/Contents/Linux": [[], ["."], [".."], ["../.."], ["../Resources", ".."]],
            ]
            for (directory, places) in layouts.flatMap({ layout in layout.value.map { (layout.key, $0) } }) {
                let home = root.appendingPathComponent(UUID().uuidString)
                let program = home.appendingPathComponent("\(directory)/mytool")
                try FileManager.default.createDirectory(
                    at: program.deletingLastPathComponent(), withIntermediateDirectories: true)
                let helper = BuiltProducts.url(of: "KeychainTestHelper").resolvingSymlinksInPath()
                do { try FileManager.default.linkItem(at: helper, to: program) } catch {
                    try FileManager.default.copyItem(at: helper, to: program)
                }
                for place in places {
                    try write("of.\(place)", to: program.deletingLastPathComponent().appendingPathComponent(place))
                }
                let process = Process()
                process.executableURL = program
                process.arguments = ["bundle"]
                let pipe = Pipe()
                process.standardOutput = pipe
                try process.run()
                let told = String(decoding: try #require(try pipe.fileHandleForReading.readToEnd()), as: UTF8.self)
                process.waitUntilExit()
                let ours = ProcessDescription.bundleIdentifier(of: program.resolvingSymlinksInPath().path) ?? "none"
                #expect(ours + "\n" == told, "\(directory) with \(places)")
                try FileManager.default.removeItem(at: home)
            }
        }
    }

    private func propertyList(_ groups: [String]) throws -> Data {
        try PropertyListSerialization.data(
            fromPropertyList: ["keychain-access-groups": groups], format: .xml, options: 0)
    }

    private func record(_ kind: UInt64, _ payload: Data) -> Data {
        var bytes = Data("KCENTITL".utf8)
        withUnsafeBytes(of: (UInt64(payload.count) | kind << 32).littleEndian) { bytes += Data($0) }
        return bytes + payload + Data(count: (8 - payload.count % 8) % 8)
    }

    @Test("Code comes before embedded entitlements, those before a file, the file before the names")
    func precedence() throws {
        try withTemporaryDirectory { directory in
            var configuration = KeychainConfiguration()
            let embedded = record(1, try propertyList(["embedded"]))
            func groups(_ process: ProcessDescription) throws -> [String] {
                try CallerIdentity(configuration, process: process).caller.groups
            }
            #expect(try groups(process(directory)) == ["mytool"])
            #expect(try groups(process(directory, bundle: "com.example.app")) == ["com.example.app"])
            try propertyList(["file"]).write(to: directory.appendingPathComponent("mytool.entitlements"))
            #expect(try groups(process(directory, bundle: "com.example.app")) == ["file"])
            #expect(try groups(process(directory, embedded: embedded)) == ["embedded"])
            configuration.accessGroups = ["code"]
            #expect(try groups(process(directory, embedded: embedded)) == ["code"])
        }
    }

    @Test("A program is known by its application identifier, else by its bundle, else by its file")
    func name() throws {
        try withTemporaryDirectory { directory in
            let embedded = record(1, try propertyList(["embedded"]))
            #expect(try process(directory).name() == "mytool")
            #expect(try process(directory, bundle: "com.example.app").name() == "com.example.app")
            #expect(try process(directory, embedded: embedded, bundle: "com.example.app").name() == "com.example.app")
            let file = directory.appendingPathComponent("mytool.entitlements")
            let entries = ["application-identifier": "ABCDE.com.example.app"]
            try PropertyListSerialization.data(fromPropertyList: entries, format: .xml, options: 0).write(to: file)
            #expect(try process(directory, bundle: "com.example.app").name() == "ABCDE.com.example.app")
            #expect(try process(directory, embedded: embedded).name() == "mytool")
            try Data("garbage".utf8).write(to: file)
            #expect(throws: KeychainError.self) { try process(directory).name() }
        }
    }

    @Test("A program's own record comes before those of the libraries in it, whatever their order")
    func records() throws {
        let program = record(1, try propertyList(["program"]))
        let library = record(2, try propertyList(["library"]))
        try withTemporaryDirectory { directory in
            for section in [program + library, library + program, library + Data(count: 16) + program] {
                let identity = try CallerIdentity(
                    KeychainConfiguration(), process: process(directory, embedded: section))
                #expect(identity.caller.groups == ["program"])
            }
            let alone = try CallerIdentity(KeychainConfiguration(), process: process(directory, embedded: library))
            #expect(alone.caller.groups == ["library"])
        }
    }

    @Test("A damaged record or file is an error, never another identity")
    func damaged() throws {
        try withTemporaryDirectory { directory in
            let whole = record(1, try propertyList(["program"]))
            for section in [whole.dropLast(8), Data("KCENTITX".utf8), whole + Data([1, 2, 3, 4, 5, 6, 7, 8])] {
                #expect(throws: KeychainError.self) {
                    try CallerIdentity(KeychainConfiguration(), process: process(directory, embedded: Data(section)))
                }
            }
            try Data("garbage".utf8).write(to: directory.appendingPathComponent("mytool.entitlements"))
            #expect(throws: KeychainError.self) {
                try CallerIdentity(KeychainConfiguration(), process: process(directory))
            }
        }
    }

    @Test("A program that was replaced while it runs keeps its name")
    func replacedProgram() {
        #expect(OwnProgram.withoutDeletionMark("/none/mytool (deleted)") == "/none/mytool")
        #expect(OwnProgram.withoutDeletionMark("/none/mytool") == "/none/mytool")
    }

    @Test("A missing group is explained with the file to write")
    func explanation() throws {
        try withTemporaryDirectory { directory in
            let identity = try CallerIdentity(KeychainConfiguration(), process: process(directory))
            let missing = KeychainError(.missingEntitlement, message: "access group X is not among yours: G")
            #expect(identity.explaining(missing, granted: nil).message.contains("mytool.entitlements"))
            let owners = KeychainError(.missingEntitlement, message: "only the owner of the keychain exports all items")
            #expect(identity.explaining(owners, granted: nil).message == owners.message)
        }
    }

    @Test("Where root gives the groups, a missing one is explained with the manifest to ask for")
    func explanationByRoot() throws {
        try withTemporaryDirectory { directory in
            let identity = try CallerIdentity(KeychainConfiguration(), process: process(directory))
            let missing = KeychainError(.missingEntitlement, message: "access group X is not among yours: G")
            func explained(_ kind: CallerDescription.Kind, _ name: String?) -> String {
                let granted = CallerDescription(kind: kind, name: name, groups: ["G"], evidence: [], pid: 1, uid: 1)
                return identity.explaining(missing, granted: granted).message
            }
            for (kind, name, key) in [
                (CallerDescription.Kind.unit, "mail.service", "unit"), (.setgid, "mailers", "group"), (.user, "ann", "user"),
            ] {
                #expect(
                    explained(kind, name).hasSuffix(
                        "under keychain-access-groups in the manifest in /etc/keychain/entitlements.d that has "
                            + "swift-keychain.\(key) = \(name)"))
            }
            #expect(explained(.unconfined, nil).contains("without an identity of their own"))
            #expect(!explained(.unconfined, nil).contains("mytool.entitlements"))
        }
    }

    @Test("A program lacks the group of its file if the file gives one and the process has another one")
    func lostGroup() throws {
        try withTemporaryDirectory { directory in
            let file = directory.appendingPathComponent("program").path
            try Data().write(to: URL(fileURLWithPath: file))
            for (mode, isGiven) in [(mode_t(0o2755), true), (0o755, false), (0o2745, false), (0o6755, true)] {
                #expect(chmod(file, mode) == 0)
                let lost = LostGroup(ofProgram: file, effectiveGroup: getegid() &+ 1)
                #expect((lost != nil) == isGiven)
                if let lost { #expect(lost.refusal.code == .missingEntitlement && lost.refusal.message.contains(file)) }
                #expect(LostGroup(ofProgram: file, effectiveGroup: getegid()) == nil)
            }
            #expect(LostGroup(ofProgram: file + "-none", effectiveGroup: 1) == nil)
        }
        #expect(LostGroup.ofProcess == nil)
    }
}
