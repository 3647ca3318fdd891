internal import Glibc

/// The files of /proc about a process, read from bytes in which its user has named programs and groups of processes.
/// Bytes that are not understood give nil, and the process is refused.
struct ProcessEvidence: Equatable {
    /// The real, effective, saved and file system's user.
    let users: [uid_t]
    /// The groups in the same order.
    let groups: [gid_t]
    /// The process has so many numbers: one for each pid namespace from here to its own.
    let pidCount: Int
    let namespace: UserNamespace
    let cgroup: ControlGroup

    /// - Parameter ownMap: The `uid_map` of this process.
    init?(status: [UInt8], userMap: [UInt8], cgroup: [UInt8], ownMap: [UInt8]) {
        guard let users = Self.numbers("Uid:", in: status), let groups = Self.numbers("Gid:", in: status),
            let pids = Self.numbers("NSpid:", in: status), users.count == 4, groups.count == 4, !pids.isEmpty,
            let namespace = UserNamespace(map: userMap, own: ownMap)
        else { return nil }
        (self.users, self.groups, self.namespace, pidCount) = (users, groups, namespace, pids.count)
        self.cgroup = ControlGroup(cgroup)
    }

    /// The numbers of a line of `status`. The kernel writes a program's name so that it has no line of its own.
    private static func numbers(_ name: String, in status: [UInt8]) -> [UInt32]? {
        let lines = status.split(separator: UInt8(ascii: "\n")).filter { $0.starts(with: name.utf8) }
        guard lines.count == 1 else { return nil }
        return lines[0].dropFirst(name.utf8.count).numbers
    }
}

/// Whose user namespace a process is in, as its map of users shows (user_namespaces(7)).
enum UserNamespace: Equatable {
    /// That of this daemon.
    case own
    /// One that a user made: it maps that user alone, or further numbers that are the user's own.
    case ofUser
    /// Only root makes one that has root in it.
    case ofRoot

    /// nil for a map that is not there yet, or is none.
    init?(map: [UInt8], own: [UInt8]) {
        let lines = map.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: true).map { $0.numbers ?? [] }
        // Its first number here, its first number there, and how many there are.
        guard !lines.isEmpty, lines.allSatisfy({ $0.count == 3 && $0[2] > 0 }) else { return nil }
        if map == own {
            self = .own
        } else {
            self = lines.contains { $0[1] == 0 } ? .ofRoot : .ofUser
        }
    }
}

/// The place of a process among the service manager's groups of processes (cgroups(7)).
struct ControlGroup: Equatable {
    /// For a person; nil: there is none, or several that differ.
    let path: String?
    /// The system manager's service whose main group it is.
    let unit: String?
    /// The service whose main group it is, or that made this group below its own.
    let outerUnit: String?

    init(_ bytes: [UInt8]) {
        path = Self.path(in: bytes)
        let names = path.map { $0.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) } ?? []
        guard names.first?.isEmpty == true, !names.dropFirst().contains(where: { $0.isNoName }) else {
            (unit, outerUnit) = (nil, nil)
            return
        }
        // A user's own manager is a service of the system's, and decides itself what is below it.
        let inner = names.dropFirst().drop { $0.ends(with: ".slice") }
        outerUnit = inner.first.flatMap {
            $0.ends(with: ".service") && !$0.starts(with: "user@".utf8) ? String($0.unescaped) : nil
        }
        unit = inner.count == 1 ? outerUnit : nil
    }

    /// Each line is a hierarchy's number, its controllers and a path. The manager's are the unified one and the one that
    /// is named after it. If both are there, the manager uses one, and the path of the other is "/".
    private static func path(in bytes: [UInt8]) -> String? {
        var paths: Set<String> = []
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let fields = line.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { return nil }
            guard fields[0].elementsEqual("0".utf8) && fields[1].isEmpty || fields[1].elementsEqual("name=systemd".utf8)
            else { continue }
            guard let path = String(validating: fields[2], as: UTF8.self) else { return nil }
            if path != "/" { paths.insert(path) }
        }
        return paths.count == 1 ? paths.first : nil
    }
}

extension Sequence<UInt8> {
    /// Decimal numbers with blanks between them; nil: there is something else.
    fileprivate var numbers: [UInt32]? {
        let words = split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        let numbers = words.compactMap { word in
            word.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
                ? UInt32(String(decoding: word, as: UTF8.self)) : nil
        }
        return numbers.count == words.count ? numbers : nil
    }
}

extension Substring.UTF8View {
    /// No name of a group, or one outside of what is seen from here.
    fileprivate var isNoName: Bool { isEmpty || elementsEqual(".".utf8) || elementsEqual("..".utf8) }

    fileprivate func ends(with suffix: String) -> Bool {
        count > suffix.utf8.count && self.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }

    /// systemd puts "_" before a name that the kernel could take for a file of its own.
    fileprivate var unescaped: Substring { Substring(first == UInt8(ascii: "_") ? dropFirst() : self) }
}
