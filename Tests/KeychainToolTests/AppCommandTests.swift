import Foundation
import KeychainSystem
import KeychainTestSupport
import Testing

@testable import KeychainTool

/// The commands that show and check manifests.
@Suite struct AppCommandTests {
    private static let sound = """
        { "swift-keychain.unit" = "nginx.service"; "keychain-access-groups" = (web, shared); }
        """

    /// Runs `body` with the command and a directory of manifests of the user who runs the test.
    private func withManifests(_ body: (Tool, URL, (String...) throws -> Tool.Outcome) throws -> Void) throws {
        try withTool { tool in
            let directory = tool.home.resolvingSymlinksInPath().appendingPathComponent("manifests")
            try FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
            try body(tool, directory) { words in
                try tool.run(words: ["app"] + words + ["--manifests", directory.path])
            }
        }
    }

    private func write(_ text: String, _ name: String, _ directory: URL) throws -> String {
        let file = directory.appendingPathComponent(name)
        try Data(text.utf8).write(to: file)
        try #require(chmod(file.path, 0o644) == 0)
        return file.path
    }

    @Test("The list has each program with its groups, and each manifest with a fault")
    func list() throws {
        try withManifests { _, directory, app in
            #expect(try app("list").text == "")
            #expect(try app("list").errors.contains("there is no manifest"))
            let sound = try write(Self.sound, "a.plist", directory)
            let flawed = try write("{ \"swift-keychain.unit\" = \"b.service\"; }", "b.plist", directory)
            #expect(
                try app("list").text == """
                    unit nginx.service: web, shared
                    unit b.service: refused: \(flawed) gives no group

                    """)
            let objects = try app("list", "--json").objects
            #expect(objects.map { $0["name"] as? String } == ["nginx.service", "b.service"])
            #expect(objects.map { $0["kind"] as? String } == ["unit", "unit"])
            #expect(objects.map { $0["file"] as? String } == [sound, flawed])
            #expect(objects.first?["groups"] as? [String] == ["web", "shared"])
            #expect(objects.map { $0["flaw"] as? String } == [nil, "gives no group"])
        }
    }

    @Test("What is installed is checked with its modes, and each fault has its place and the status 1")
    func verify() throws {
        try withManifests { _, directory, app in
            let sound = try write(Self.sound, "a.plist", directory)
            #expect(try app("verify").status == 0)
            #expect(try app("verify", sound).status == 0)
            let flawed = try write(Self.sound.replacing("nginx", with: "other"), "b.plist", directory)
            try #require(chmod(flawed, 0o666) == 0)
            for outcome in [try app("verify"), try app("verify", sound, flawed)] {
                #expect(outcome.status == 1)
                #expect(outcome.text == "\(flawed) can be written by others than its owner (mode 666)\n")
            }
            #expect(try app("verify", sound).status == 0)
            let objects = try app("verify", "--json").objects
            #expect(objects.map { $0["file"] as? String } == [flawed])
            #expect((objects.first?["flaw"] as? String)?.contains("mode 666") == true)
        }
    }

    @Test("Of a file that is not installed the content counts, and its account may come with the package")
    func verifyElsewhere() throws {
        try withManifests { tool, _, app in
            let file = try write(
                "{ \"swift-keychain.group\" = \"no-such-group\"; \"keychain-access-groups\" = (a); }", "new.plist",
                tool.home)
            try #require(chmod(file, 0o664) == 0)
            #expect(try app("verify", file).status == 0)
            let bad = try write(
                "{ \"swift-keychain.group\" = \"root\"; \"keychain-access-groups\" = (a); }", "bad.plist", tool.home)
            let outcome = try app("verify", bad)
            #expect(outcome.status == 1)
            #expect(outcome.text.contains("\(bad) is for the group root, which the user root has"), "\(outcome.text)")
            #expect(try app("verify", tool.home.appendingPathComponent("none").path).status == 44)
        }
    }

    @Test("A program is shown with its file, and a name that no manifest has is not found")
    func show() throws {
        try withManifests { _, directory, app in
            let file = try write(Self.sound, "a.plist", directory)
            let outcome = try app("show", "nginx.service", "--json").object
            #expect(outcome["file"] as? String == file)
            #expect(outcome["groups"] as? [String] == ["web", "shared"])
            #expect(!outcome.keys.contains("members"))
            #expect(try app("show", "nginx.service").text.contains("web, shared"))
            let missing = try app("show", "apache.service")
            #expect(missing.status == 44)
            #expect(missing.errors.contains("no manifest is for apache.service"))
        }
    }

    @Test("A group is shown with its members, and the programs that give it", .enabled(if: geteuid() == 0))
    func showGroup() throws {
        try withManifests { tool, directory, _ in
            // The group of root has a member, which is a fault; the rest is told all the same.
            _ = try write(
                "{ \"swift-keychain.group\" = \"root\"; \"keychain-access-groups\" = (a); }", "a.plist", directory)
            let programs = tool.home.appendingPathComponent("bin")
            try FileManager.default.createDirectory(at: programs, withIntermediateDirectories: true)
            for (name, mode) in [("setgid", 0o2755), ("writable", 0o2775), ("plain", 0o755), ("lock", 0o2745)] {
                let path = programs.appendingPathComponent(name).path
                try Data().write(to: URL(fileURLWithPath: path))
                try #require(chown(path, 0, 0) == 0 && chmod(path, mode_t(mode)) == 0)
            }
            var tool = tool
            tool.variables["PATH"] = programs.path
            let shown = try tool.run("app", "show", "root", "--json", "--manifests", directory.path).object
            #expect((shown["members"] as? [String])?.contains("root") == true)
            let found = shown["programs"] as? [[String: Any]] ?? []
            #expect(found.map { ($0["path"] as? String).map { FilePath.name(of: $0) } } == ["setgid", "writable"])
            #expect(found.map { $0["rootOwned"] as? Bool } == [true, false])
        }
    }
}
