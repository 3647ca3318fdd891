import Glibc
import KeychainModel
import KeychainWire
import Testing

@testable import KeychainDaemon
@testable import KeychainManifests

@Suite struct IdentityLadderTests {
    private static let person: uid_t = 1000
    private static let service: uid_t = 800
    private static let mailers: gid_t = 990
    private static let own = "0 0 4294967295\n"

    /// A process as its files in /proc show it.
    private struct Process {
        var uid = person
        var users: [uid_t]?
        var egid: gid_t = 1000
        var groups: [gid_t] = [1000, 1000, 1000, 1000]
        var pids = "4711"
        var map = own
        var cgroup = "0::/user.slice/user-1000.slice/session-3.scope"
        var hasLogin = true
        var outsider: String?

        func judged(by ladder: IdentityLadder) throws(ConnectionEnd) -> CallerDescription {
            func line(_ numbers: [UInt32]) -> String { numbers.map { "\t\($0)" }.joined() }
            let status =
                "Uid:\(line(users ?? [uid, uid, uid, uid]))\nGid:\(line(groups))\nNSpid:\t\(pids)\n"
            let now = ProcessEvidence(
                status: Array(status.utf8), userMap: Array(map.utf8), cgroup: Array(cgroup.utf8),
                ownMap: Array(own.utf8))
            let peer = CallerEvidence(
                pid: 4711, uid: uid, gid: egid, groups: [], executable: nil, securityLabel: nil)
            return try ladder.judge(
                peer, now!, IdentityLadder.Account(name: "someone", hasLogin: hasLogin) { _ in outsider })
        }
    }

    private static var setgid: Process {
        Process(egid: mailers, groups: [1000, mailers, mailers, mailers])
    }

    private static var unit: Process {
        Process(
            uid: service, egid: 800, groups: [800, 800, 800, 800], cgroup: "0::/system.slice/web.service",
            hasLogin: false)
    }

    private static func manifest(_ subject: EntitlementManifest.Subject, _ groups: [String]) -> EntitlementManifest {
        EntitlementManifest(subject: subject, subjectName: "name", groups: groups, path: "/etc/m.plist")
    }

    private static let ladder = IdentityLadder(
        [
            manifest(.group(mailers), ["mail", "shared"]), manifest(.unit("named.service"), ["names"]),
            manifest(.user(700), ["backup"]),
        ],
        [
            ManifestFlaw(path: "/etc/g.plist", text: "is writable", subject: .group(991)),
            ManifestFlaw(path: "/etc/u.plist", text: "is writable", subject: .unit("flawed.service")),
            ManifestFlaw(path: "/etc/p.plist", text: "is writable", subject: .user(701)),
        ])

    @Test("While a manifest does not say whom it is for, a program that looks like one with an identity is refused")
    func namelessFlaw() throws {
        let ladder = IdentityLadder(
            [Self.manifest(.group(Self.mailers), ["mail"])],
            [ManifestFlaw(path: "/etc/x.plist", text: "is no property list")])
        #expect(try Self.setgid.judged(by: ladder).groups == ["mail"])
        #expect(try Process().judged(by: ladder).groups == ["unconfined"])
        let other = Process(egid: 777, groups: [1000, 777, 777, 777])
        var child = Self.unit
        child.cgroup += "/child"
        for process in [other, Self.unit, child] {
            do throws(ConnectionEnd) {
                let identity = try process.judged(by: ladder)
                Issue.record("it was taken for \(identity.groups)")
            } catch {
                guard case .goodbye(.refused, let text) = error else { throw error }
                #expect(text.contains("/etc/x.plist"))
            }
        }
    }

    private func refusal(_ change: (inout Process) -> Void, of process: Process) -> String? {
        var process = process
        change(&process)
        do throws(ConnectionEnd) {
            let identity = try process.judged(by: Self.ladder)
            Issue.record("it was taken for \(identity.kind) with \(identity.groups)")
            return nil
        } catch {
            guard case .goodbye(.refused, let text) = error else { return nil }
            return text
        }
    }

    private func groups(_ change: (inout Process) -> Void, of process: Process) throws -> [String] {
        var process = process
        change(&process)
        return try process.judged(by: Self.ladder).groups
    }

    // MARK: Rungs

    @Test("A program with a group of its own has the groups of the manifest, and one that nothing names the common one")
    func rungs() throws {
        let mailer = try Self.setgid.judged(by: Self.ladder)
        #expect(mailer.kind == .setgid && mailer.name == "name" && mailer.groups == ["mail", "shared"])
        #expect(mailer.pid == 4711 && mailer.uid == Self.person)
        #expect(mailer.evidence.contains("manifest /etc/m.plist"))
        let web = try Self.unit.judged(by: Self.ladder)
        #expect(web.kind == .unit && web.name == "web.service" && web.groups == ["web.service"])
        let other = try Process().judged(by: Self.ladder)
        #expect(other.kind == .unconfined && other.name == nil && other.groups == ["unconfined"])
        #expect(try groups({ $0.cgroup = "0::/system.slice/named.service" }, of: Self.unit) == ["names"])
        #expect(try groups({ $0.uid = 700 }, of: Process()) == ["backup"])
    }

    @Test("A process is what it was when it connected, in all four numbers of its user, or it is refused")
    func changed() {
        #expect(refusal({ $0.egid = 5 }, of: Process()) != nil)
        #expect(refusal({ $0.egid = 1000 }, of: Self.setgid) != nil, "connected before the program got its group")
        #expect(refusal({ $0.groups = [1000, 1000, 1000, 1000] }, of: Self.setgid) != nil)
        for index in 0..<4 {
            #expect(
                refusal(
                    { process in
                        process.users = [1000, 1000, 1000, 1000]
                        process.users![index] = 0
                    }, of: Process()) != nil)
        }
    }

    // MARK: Namespaces

    @Test("A user's own sandbox has the common group at most, and one of root is a unit or nothing")
    func namespaces() throws {
        let (ofUser, ofRoot) = ("0 1000 1\n", "0 0 1\n800 800 1\n")
        #expect(try groups({ $0.map = ofUser }, of: Process()) == ["unconfined"])
        #expect(try groups({ ($0.map, $0.pids) = (ofUser, "4711\t1") }, of: Process()) == ["unconfined"])
        #expect(refusal({ $0.map = ofUser }, of: Self.setgid) != nil)
        #expect(refusal({ $0.map = ofUser }, of: Self.unit) != nil)
        #expect(refusal({ ($0.map, $0.uid) = (ofUser, 700) }, of: Process()) != nil)
        #expect(try groups({ $0.map = ofRoot }, of: Self.unit) == ["web.service"])
        #expect(refusal({ $0.map = ofRoot }, of: Process()) != nil)
        #expect(refusal({ $0.map = ofRoot }, of: Self.setgid) != nil)
    }

    @Test("A container whose users are the system's is refused, whatever it looks like from inside")
    func container() {
        for process in [Process(), Self.setgid, Self.unit] {
            #expect(refusal({ $0.pids = "4711\t1" }, of: process)?.contains("container") == true)
        }
    }

    // MARK: Whole evidence, or none

    @Test("A program with a manifest for its group has it as its effective and saved one, or is refused")
    func wholeGroup() {
        for groups in [[990, 1000, 1000, 1000], [1000, 1000, 990, 1000], [1000, 1000, 1000, 990]] as [[gid_t]] {
            #expect(refusal({ ($0.groups, $0.egid) = (groups, 1000) }, of: Process()) != nil)
        }
        #expect(refusal({ $0.groups = [1000, 990, 1000, 990] }, of: Self.setgid) != nil)
    }

    @Test("A service with a manifest has a user of its own, and is no group below it, or is refused")
    func wholeUnit() throws {
        func named(_ change: (inout Process) -> Void) -> String? {
            refusal(
                { process in
                    process.cgroup = "0::/system.slice/named.service"
                    change(&process)
                }, of: Self.unit)
        }
        #expect(named { $0.hasLogin = true }?.contains("can log in") == true)
        #expect(named { ($0.uid, $0.egid, $0.groups) = (0, 0, [0, 0, 0, 0]) }?.contains("root") == true)
        #expect(named { $0.outsider = "12 in cron.service" }?.contains("12 in cron.service") == true)
        #expect(named { $0.cgroup += "/child" }?.contains("below") == true)
    }

    @Test("A service without a manifest whose user has other processes is refused, and one of a person is no service")
    func jobs() throws {
        // A job that cron.service runs for an account without a login, alone and beside another process of the account.
        #expect(try groups({ $0.cgroup = "0::/system.slice/cron.service" }, of: Self.unit) == ["cron.service"])
        #expect(
            refusal(
                { ($0.cgroup, $0.outsider) = ("0::/system.slice/cron.service", "12 in web.service") }, of: Self.unit)
                != nil)
        // A person's job.
        #expect(try groups({ $0.cgroup = "0::/system.slice/cron.service" }, of: Process()) == ["unconfined"])
        // A service of root.
        #expect(
            try groups({ ($0.uid, $0.egid, $0.groups) = (0, 0, [0, 0, 0, 0]) }, of: Self.unit) == ["unconfined"])
        #expect(try groups({ $0.cgroup += "/child" }, of: Self.unit) == ["unconfined"])
    }

    @Test("A program whose manifest is faulty is refused, and told which file it is")
    func flaws() {
        for text in [
            refusal({ ($0.egid, $0.groups) = (991, [1000, 991, 991, 991]) }, of: Process()),
            refusal({ $0.cgroup = "0::/system.slice/flawed.service" }, of: Self.unit),
            refusal({ $0.cgroup = "0::/system.slice/flawed.service/child" }, of: Self.unit),
            refusal({ $0.uid = 701 }, of: Process()),
        ] {
            #expect(text?.contains(".plist gives nothing: it is writable") == true)
        }
    }
}
