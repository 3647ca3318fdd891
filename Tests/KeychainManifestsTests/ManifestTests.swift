import Foundation
import KeychainModel
import KeychainSystem
import KeychainTestSupport
import Testing

@testable import KeychainManifests

/// The files by which root gives access groups to programs.
@Suite struct ManifestTests {
    /// A machine with two groups, of which one has a member, and a user.
    private static let accounts = Accounts(
        user: { $0 == "backup" ? 4034 : nil }, group: { ["mailers": 4050, "staff": 4051][$0] },
        members: { $0 == 4051 ? ["alice"] : [] })

    /// A directory of manifests that belongs to the user who runs the test, with one in the place of `/etc` behind it.
    private struct Places {
        let root: URL
        var packages: URL { root.appendingPathComponent("share/entitlements.d") }
        var machine: URL { root.appendingPathComponent("etc/entitlements.d") }
        var directories: ManifestDirectories {
            ManifestDirectories([packages.path, machine.path], owner: geteuid(), accounts: accounts)
        }

        func write(_ content: String, _ name: String = "a.plist", in directory: URL? = nil) throws {
            try Data(content.utf8).write(to: (directory ?? packages).appendingPathComponent(name))
        }
    }

    private func withPlaces(_ body: (Places) throws -> Void) throws {
        try withTemporaryDirectory { directory in
            // A link on the way would be a flaw of its own.
            let places = Places(root: directory.resolvingSymlinksInPath())
            for url in [places.packages, places.machine] {
                try FileManager.default.createDirectory(
                    at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
            }
            for url in [
                places.root, places.root.appendingPathComponent("share"), places.root.appendingPathComponent("etc"),
            ] {
                try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: url.path)
            }
            try body(places)
        }
    }

    private static func list(_ entries: String) -> String { "<plist version=\"1.0\"><dict>\(entries)</dict></plist>" }
    private static let groups = "<key>keychain-access-groups</key><array><string>mail</string></array>"
    private static let setgid = "<key>swift-keychain.group</key><string>mailers</string>"
    private static let sound = list(setgid + groups)

    @Test(
        "A manifest names a program, and gives it the groups in Apple's order",
        arguments: [
            "<plist><dict><key>application-identifier</key><string>app</string><key>swift-keychain.unit</key>"
                + "<string>nginx.service</string><key>keychain-access-groups</key><array><string>b</string><string>a</string>"
                + "<string>b</string></array></dict></plist>",
            #"{ "keychain-access-groups" = (b, a, b); "application-identifier" = app; "swift-keychain.unit" = "nginx.service"; }"#,
        ])
    func sound(text: String) throws {
        let manifest = try EntitlementManifest(Array(text.utf8), path: "/p", accounts: Self.accounts)
        #expect(manifest.subject == .unit("nginx.service"))
        #expect(manifest.groups == ["b", "a", "app"])
        #expect(manifest.path == "/p")
    }

    @Test("A binary property list does as well")
    func binary() throws {
        let bytes = try PropertyListSerialization.data(
            fromPropertyList: ["swift-keychain.user": "backup", "keychain-access-groups": ["a"]], format: .binary,
            options: 0)
        let manifest = try EntitlementManifest(Array(bytes), path: "/p", accounts: Self.accounts)
        #expect(manifest.subject == .user(4034))
        #expect(manifest.subjectName == "backup")
    }

    @Test(
        "Each fault of the content has its word, and the program is known as far as it can be read",
        arguments: [
            ("", "is no property list", nil), ("<plist><dict><key>a</key></plist>", "line 1", nil),
            ("<plist><array/></plist>", "is no property list with a dictionary", nil),
            (list(groups), "has 0 of the keys", nil),
            (list(setgid + "<key>swift-keychain.user</key><string>backup</string>" + groups), "has 2 of the keys", nil),
            (list("<key>swift-keychain.user</key><true/>" + groups), "swift-keychain.user is not a name", nil),
            (list("<key>swift-keychain.user</key><string/>" + groups), "swift-keychain.user is not a name", nil),
            (
                list("<key>swift-keychain.user</key><string>bob</string>" + groups), "user bob, which does not exist",
                nil
            ),
            (list("<key>swift-keychain.group</key><string>nobodys</string>" + groups), "group nobodys, which", nil),
            (list("<key>swift-keychain.group</key><string>staff</string>" + groups), "which the user alice has", 4051),
            (list(setgid), "gives no group", 4050),
            (
                list(setgid + groups + "<key>keychain-access-group</key><array/>"), "key keychain-access-group, which",
                4050
            ),
            (
                list(setgid + "<key>keychain-access-groups</key><string>mail</string>"), "is not an array of strings",
                4050
            ),
            (
                list(setgid + "<key>keychain-access-groups</key><array><integer>1</integer></array>"),
                "is not an array", 4050
            ),
            (
                list(setgid + "<key>application-identifier</key><array/>"), "application-identifier is not a string",
                4050
            ),
            (list(setgid + "<key>keychain-access-groups</key><array><string/></array>"), "without a name", 4050),
            (list(setgid + "<key>keychain-access-groups</key><array><string>$(A)</string></array>"), "$(A)", 4050),
            (list(setgid + "<key>keychain-access-groups</key><array><string>*</string></array>"), "the group *", 4050),
            (
                list(setgid + "<key>keychain-access-groups</key><array><string>unconfined</string></array>"),
                "gives the group unconfined", 4050
            ),
            (
                list(setgid + "<key>keychain-access-groups</key><array><string>com.apple.token</string></array>"),
                "gives the group com.apple.token", 4050
            ),
            (String(repeating: "(", count: 65), "has more than 64 lists", nil),
            (String(repeating: " ", count: 64 << 10 | 1), "is larger than 64 KiB", nil),
        ] as [(String, String, gid_t?)])
    func contentFlaws(text: String, word: String, group: gid_t?) throws {
        let flaw = #expect(throws: ManifestFlaw.self) {
            try EntitlementManifest(Array(text.utf8), path: "/p", accounts: Self.accounts)
        }
        #expect(flaw?.text.contains(word) == true, "\(flaw?.text ?? "")")
        #expect(flaw?.path == "/p")
        #expect(flaw?.subject == group.map { .group($0) })
    }

    @Test(
        "Only the name of a service is the name of a unit",
        arguments: [
            "a.service", "a@b.service", #"dev-disk\x2dby.service"#, "A_1:2.service",
        ], [true])
    func units(name: String, isSound: Bool) throws { #expect(try Self.isUnit(name)) }

    @Test(
        "Templates, other kinds of units and paths are none",
        arguments: ["a@.service", "@a.service", ".service", "a.socket", "a", "x/a.service", "ä.service", "a b.service"])
    func noUnits(name: String) throws { #expect(try !Self.isUnit(name)) }

    private static func isUnit(_ name: String) throws -> Bool {
        let text = list("<key>swift-keychain.unit</key><string>\(name)</string>" + groups)
        do throws(ManifestFlaw) {
            _ = try EntitlementManifest(Array(text.utf8), path: "/p", accounts: accounts)
            return true
        } catch {
            #expect(error.subject == .unit(name))
            return false
        }
    }

    @Test(
        "A thousand lists in each other are refused on a small stack, and do not end the program",
        arguments: ["(", "<array>"])
    func deep(opening: String) throws {
        let text = Array(String(repeating: opening, count: 1000).utf8)
        let flaw = #expect(throws: ManifestFlaw.self) {
            try EntitlementManifest(text, path: "/p", accounts: Self.accounts)
        }
        #expect(flaw?.text == "has more than 64 lists")
    }

    // MARK: Directories

    @Test("Missing directories are no flaw, and other files than manifests do not count")
    func nothing() throws {
        try withPlaces { places in
            try places.write("nonsense", "README")
            #expect(places.directories.read().manifests == [])
            #expect(places.directories.read().flaws == [])
            let absent = ManifestDirectories(["/nowhere/at/all"], accounts: Self.accounts).read()
            #expect(absent.manifests.isEmpty && absent.flaws.isEmpty)
        }
    }

    @Test("A manifest whose name is no text is a flaw, and with it nothing of its directory counts")
    func namelessFile() throws {
        try withPlaces { places in
            try places.write(Self.sound)
            var name = Array(places.packages.path.utf8CString.dropLast()) + [0x2F, -1]
            name += ".plist".utf8CString
            let file = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
            try #require(file >= 0)
            close(file)
            let (manifests, flaws) = places.directories.read()
            #expect(manifests == [])
            #expect(flaws.map(\.text) == ["has a manifest whose name is not UTF-8"] && flaws.map(\.subject) == [nil])
        }
    }

    @Test("The machine's file replaces the package's of the same name")
    func replaced() throws {
        try withPlaces { places in
            try places.write(Self.sound)
            try places.write(
                Self.list(Self.setgid + Self.groups.replacing("mail<", with: "other<")), in: places.machine)
            let (manifests, flaws) = places.directories.read()
            #expect(flaws == [])
            #expect(manifests.map(\.groups) == [["other"]])
            #expect(manifests.first?.path == places.machine.appendingPathComponent("a.plist").path)
        }
    }

    @Test("A replacement that cannot be read is a flaw of the replaced one's program, which nothing is given")
    func replacedByFlaw() throws {
        try withPlaces { places in
            try places.write(Self.sound)
            try places.write("nonsense", in: places.machine)
            let (manifests, flaws) = places.directories.read()
            #expect(manifests == [])
            #expect(flaws.map(\.subject) == [.group(4050)])
            #expect(flaws.map(\.subjectName) == ["mailers"])
        }
    }

    @Test("Two manifests for one program are both refused")
    func rivals() throws {
        try withPlaces { places in
            try places.write(Self.sound)
            try places.write(Self.sound, "b.plist", in: places.machine)
            let (manifests, flaws) = places.directories.read()
            #expect(manifests == [])
            #expect(flaws.count == 2 && flaws.allSatisfy { $0.subject == .group(4050) })
            #expect(flaws.first?.text.contains("a.plist") == true, "\(flaws)")
        }
    }

    @Test(
        "A file that others may write is a flaw of its program", arguments: [0o664, 0o646, 0o666])
    func writableFile(mode: Int) throws {
        try withPlaces { places in
            try places.write(Self.sound)
            let path = places.packages.appendingPathComponent("a.plist").path
            try #require(chmod(path, mode_t(mode)) == 0)
            let (manifests, flaws) = places.directories.read()
            #expect(manifests == [])
            #expect(flaws == [flaws.first])
            #expect(flaws.first?.path == path)
            #expect(flaws.first?.text == "can be written by others than its owner (mode \(String(mode, radix: 8)))")
            #expect(flaws.first?.subject == .group(4050))
        }
    }

    @Test("What is no file is not read: a link, a directory, a pipe", arguments: ["link", "directory", "pipe"])
    func strangeFiles(kind: String) throws {
        try withPlaces { places in
            let path = places.packages.appendingPathComponent("a.plist").path
            let other = places.root.appendingPathComponent("real.plist")
            try Data(Self.sound.utf8).write(to: other)
            let result =
                switch kind {
                case "link": symlink(other.path, path)
                case "pipe": mkfifo(path, 0o644)
                default: mkdir(path, 0o755)
                }
            try #require(result == 0)
            let (manifests, flaws) = places.directories.read()
            #expect(manifests == [])
            #expect(flaws.map(\.text) == ["is a \(kind)"])
            #expect(flaws.map(\.path) == [path])
        }
    }

    @Test(
        "Whatever lies in a directory that others may write is a flaw, and so is a directory above",
        arguments: ["share/entitlements.d", "share", "."])
    func writableDirectory(name: String) throws {
        try withPlaces { places in
            try places.write(Self.sound)
            let path = places.root.appendingPathComponent(name).standardizedFileURL.path
            try #require(chmod(path, 0o775) == 0)
            let (manifests, flaws) = places.directories.read()
            #expect(manifests == [])
            #expect(flaws.contains { $0.path == path && $0.text.contains("(mode 775)") })
            #expect(flaws.contains { $0.path.hasSuffix("a.plist") && $0.subject == .group(4050) })
        }
    }

    @Test("A directory with the sticky bit on the way is none: nobody else can replace what lies in it")
    func sticky() throws {
        try withPlaces { places in
            try places.write(Self.sound)
            try #require(chmod(places.root.path, 0o1777) == 0)
            #expect(places.directories.read().flaws == [])
            // The directory of the manifests itself has no such excuse.
            try #require(chmod(places.packages.path, 0o1777) == 0)
            #expect(places.directories.read().manifests == [])
        }
    }

    @Test("A link in the place of a directory is not followed", arguments: ["share/entitlements.d", "share"])
    func linkedDirectory(name: String) throws {
        try withPlaces { places in
            try places.write(Self.sound)
            let path = places.root.appendingPathComponent(name).path
            try FileManager.default.moveItem(atPath: path, toPath: path + ".real")
            try #require(symlink(path + ".real", path) == 0)
            let (manifests, flaws) = places.directories.read()
            #expect(manifests == [])
            #expect(flaws.map(\.path) == [path])
            #expect(flaws.map(\.text) == ["is a link"])
        }
    }

    @Test("Files and directories of another owner are flaws, with the owner's number", .enabled(if: geteuid() == 0))
    func otherOwners() throws {
        try withPlaces { places in
            try places.write(Self.sound)
            let path = places.packages.appendingPathComponent("a.plist").path
            try #require(chown(path, 4034, 0) == 0)
            var flaws = places.directories.read().flaws
            #expect(flaws.map(\.text) == ["belongs to user 4034, and has to belong to root"])
            #expect(flaws.map(\.subject) == [.group(4050)])
            try #require(chown(path, 0, 0) == 0 && chown(places.packages.path, 4034, 0) == 0)
            flaws = places.directories.read().flaws
            #expect(flaws.contains { $0.path == places.packages.path && $0.text.contains("belongs to user 4034") })
            #expect(places.directories.read().manifests == [])
        }
    }

    @Test("Without root, one's own files are foreign to the directories of the system", .enabled(if: geteuid() != 0))
    func notRoots() throws {
        try withPlaces { places in
            try places.write(Self.sound)
            let read = ManifestDirectories([places.packages.path], accounts: Self.accounts).read()
            #expect(read.manifests == [])
            #expect(read.flaws.contains { $0.text.contains("has to belong to root") })
        }
    }

    // MARK: Changes

    @Test("The signature is the same until something changes, and another one after each change")
    func signature() throws {
        try withPlaces { places in
            var last = places.directories.signature()
            func expectChange(_ what: String, _ change: () throws -> Void) throws {
                #expect(places.directories.signature() == last, "before: \(what)")
                try change()
                let present = places.directories.signature()
                #expect(present != last, "\(what)")
                last = present
            }
            let path = places.packages.appendingPathComponent("a.plist").path
            try expectChange("a new file") { try places.write(Self.sound) }
            try expectChange("its mode") { _ = chmod(path, 0o600) }
            try expectChange("its content") { try places.write(Self.list(Self.setgid)) }
            try expectChange("its end") { _ = unlink(path) }
            try expectChange("a directory above") { _ = chmod(places.root.path, 0o775) }
            try expectChange("a missing directory") { _ = rmdir(places.machine.path) }
        }
    }

    @Test("An account that cannot be looked up is not missing, and a group whose members cannot be is not free")
    func failingLookups() throws {
        let failure = SystemError("look up an account", EMFILE)
        let without = Accounts(
            user: { _ throws(SystemError) in throw failure }, group: { _ throws(SystemError) in throw failure },
            members: { _ in [] })
        let withoutMembers = Accounts(
            user: { _ in nil }, group: { _ in 4050 }, members: { _ throws(SystemError) in throw failure })
        for accounts in [without, withoutMembers] {
            let flaw = #expect(throws: ManifestFlaw.self) {
                try EntitlementManifest(Array(Self.sound.utf8), path: "/p", accounts: accounts)
            }
            #expect(flaw?.mayPass == true)
            #expect(flaw?.text.contains("cannot look up an account: Too many open files") == true)
        }
    }

    @Test("A faulty manifest for a program takes its groups from a sound one, too")
    func faultyBesideSound() throws {
        try withPlaces { places in
            try places.write(Self.sound)
            try places.write(Self.list(Self.setgid), "b.plist")
            let (manifests, flaws) = places.directories.read()
            #expect(manifests == [])
            #expect(flaws.map(\.subject) == [.group(4050)])
            #expect(flaws.map(\.mayPass) == [false])
        }
    }

    @Test("The accounts of the system are found by name, and the users that have a group")
    func systemAccounts() throws {
        #expect(try AccountDatabase.user(named: "root") == 0)
        #expect(try AccountDatabase.group(named: "root") == 0)
        #expect(try AccountDatabase.user(named: "no such user") == nil)
        #expect(try AccountDatabase.group(named: "no such group") == nil)
        #expect(try AccountDatabase.members(of: 0).contains("root"))
    }
}
