import Glibc
import Testing

@testable import KeychainDaemon

@Suite struct ProcessEvidenceTests {
    private static let ownMap = "         0          0 4294967295\n"

    private func evidence(
        status: String = text(), map: String = ownMap, cgroup: String = "0::/system.slice/a.service\n",
        own: String = ownMap
    ) -> ProcessEvidence? {
        ProcessEvidence(
            status: Array(status.utf8), userMap: Array(map.utf8), cgroup: Array(cgroup.utf8), ownMap: Array(own.utf8))
    }

    private static func text(
        name: String = "mail", uid: String = "Uid:\t1000\t1000\t1000\t1000", gid: String = "Gid:\t1000\t990\t990\t990",
        pids: String = "NSpid:\t4711"
    ) -> String {
        "Name:\t\(name)\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t4711\nPid:\t4711\n\(uid)\n\(gid)\n"
            + "Groups:\t24 1000 \nNStgid:\t4711\n\(pids)\nNSpgid:\t4711\n"
    }

    @Test("Users, groups and the numbers of a process are read from its status")
    func status() throws {
        let evidence = try #require(self.evidence())
        #expect(evidence.users == [1000, 1000, 1000, 1000])
        #expect(evidence.groups == [1000, 990, 990, 990])
        #expect(evidence.pidCount == 1)
        #expect(try #require(self.evidence(status: Self.text(pids: "NSpid:\t4711\t17\t1"))).pidCount == 3)
    }

    @Test(
        "A status that is not understood is no evidence",
        arguments: [
            "", text(uid: ""), text(gid: ""), text(pids: ""), text(pids: "NSpid:"),
            text(uid: "Uid:\t1000\t1000\t1000"), text(uid: "Uid:\t1000\t1000\t1000\t1000\t1000"),
            text(uid: "Uid:\t-1\t1000\t1000\t1000"), text(uid: "Uid:\t+1\t1000\t1000\t1000"),
            text(uid: "Uid:\t4294967296\t1000\t1000\t1000"), text(gid: "Gid:\tx\t1000\t1000\t1000"),
            text(gid: "Gid:\t1\t1\t1\t1\nGid:\t990\t990\t990\t990"),
        ])
    func noStatus(content: String) { #expect(evidence(status: content) == nil) }

    @Test("A name cannot have a line of its own: the kernel writes its line ends as \\n")
    func name() throws {
        let content = Self.text(name: "x\\nUid:\t0\t0\t0\t0")
        #expect(try #require(evidence(status: content)).users == [1000, 1000, 1000, 1000])
    }

    @Test(
        "A map of users shows who made the namespace",
        arguments: [
            (ownMap, UserNamespace.own), ("0 1000 1\n", .ofUser), ("      1000       1000          1\n", .ofUser),
            ("0 1000 1\n1 100000 65536\n", .ofUser), ("0 0 1\n", .ofRoot), ("0 0 1\n990 990 1\n", .ofRoot),
            ("0 100000 65536\n", .ofUser), ("1 1 10\n0 0 1\n", .ofRoot),
        ])
    func namespace(map: String, expected: UserNamespace) throws {
        #expect(try #require(evidence(map: map)).namespace == expected)
    }

    @Test("In a container its own map is the daemon's, and the system's is another")
    func container() throws {
        let own = "0 100000 65536\n"
        #expect(try #require(evidence(map: own, own: own)).namespace == .own)
        #expect(try #require(evidence(map: Self.ownMap, own: own)).namespace == .ofRoot)
    }

    @Test(
        "A map that is not there yet, or cut short, is no evidence",
        arguments: ["", "\n", "0 0\n", "0 0 1 1\n", "0 0 0\n", "a 0 1\n", "0 0 1\nx"])
    func noMap(map: String) { #expect(evidence(map: map) == nil) }

    @Test(
        "Only the main group of a service of the system's manager is that service",
        arguments: [
            ("0::/system.slice/nginx.service", "nginx.service", "nginx.service"),
            ("0::/nginx.service", "nginx.service", "nginx.service"),
            (
                "0::/system.slice/system-foo\\x2dbar.slice/foo\\x2dbar@1.service", "foo\\x2dbar@1.service",
                "foo\\x2dbar@1.service"
            ),
            ("0::/system.slice/_cgroup.service", "cgroup.service", "cgroup.service"),
            // Old and mixed hierarchies: one of the two is the manager's, or both are.
            (
                "12:cpu,cpuacct:/user.slice\n1:name=systemd:/system.slice/a.service\n0::/\n", "a.service",
                "a.service"
            ),
            ("1:name=systemd:/system.slice/a.service\n0::/system.slice/a.service\n", "a.service", "a.service"),
            ("1:name=systemd:/system.slice/a.service\n0::/system.slice/b.service\n", nil, nil),
            // What the service made itself.
            ("0::/system.slice/a.service/child", nil, "a.service"),
            ("0::/system.slice/a.service/b.service", nil, "a.service"),
            ("0::/system.slice/a.service/.control", nil, "a.service"),
            // A person's processes, whatever they are called.
            ("0::/user.slice/user-1000.slice/session-3.scope", nil, nil),
            ("0::/user.slice/user-1000.slice/session-3.scope/nginx.service", nil, nil),
            ("0::/user.slice/user-1000.slice/user@1000.service", nil, nil),
            ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/nginx.service", nil, nil),
            ("0::/user.slice/user-1000.slice/user@1000.service/nginx.service", nil, nil),
            // What is gone, outside of what is seen, or no path.
            ("0::/system.slice/a.service (deleted)", nil, nil), ("0::/../../system.slice/a.service", nil, nil),
            ("0::/system.slice/../a.service", nil, nil), ("0::/system.slice//a.service", nil, nil),
            ("0::/system.slice/./a.service", nil, nil), ("0::system.slice/a.service", nil, nil),
            ("0::/system.slice/a.service/", nil, nil), ("0::/.service", nil, nil), ("0::/.slice/x.service", nil, nil),
            ("0::/", nil, nil), ("", nil, nil), ("0:", nil, nil), ("nonsense", nil, nil),
            ("0::/system.slice/a.service:b.service", "a.service:b.service", "a.service:b.service"),
            ("1:name=other:/system.slice/a.service", nil, nil), ("0:cpu:/system.slice/a.service", nil, nil),
        ] as [(String, String?, String?)])
    func unit(text: String, unit: String?, outer: String?) {
        let group = ControlGroup(Array(text.utf8))
        #expect(group.unit == unit)
        #expect(group.outerUnit == outer)
    }

    @Test("A path that is no text is no evidence")
    func noText() {
        let group = ControlGroup(Array("0::/system.slice/".utf8) + [0xff] + Array(".service\n".utf8))
        #expect(group.path == nil && group.unit == nil && group.outerUnit == nil)
    }
}
