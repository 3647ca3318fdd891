internal import FoundationEssentials
internal import Glibc
package import KeychainModel
internal import KeychainSystem

/// Where the engine of a process runs, once that is decided.
package enum ChosenHost: Sendable, Hashable {
    case embedded(StoreLocation)
    case daemon(DaemonAddress)

    /// - Throws: `.notAvailable` if the name of a host cannot be understood.
    package init(_ configuration: KeychainConfiguration) throws(KeychainError) {
        self = try HostChoice().host(for: configuration)
    }

    /// Where the keychain is, for a person: the store's directory, or the daemon's socket.
    package var place: String {
        switch self {
        case .embedded(let location): location.storeDirectory.path
        case .daemon(let address): "the keychaind at \(address.path)"
        }
    }
}

/// Decides where the engine runs. The first of these that says something is heard: the host or the store that the program's
/// code names, `KEYCHAIN_HOST`, `KEYCHAIN_HOME`, the machine's administrator in `/etc/keychain/host`, the mark of a daemon
/// in the user's store.
struct HostChoice {
    var environment = Environment.process
    var machineFile = URL(fileURLWithPath: "/etc/keychain/host")
    var user = geteuid()
    /// The group of this program's file; nil: it has none.
    var fileGroup = FileGroup.ofProcess

    /// - Throws: `.notAvailable` if the configuration or the environment cannot be understood. Another host is never
    ///   taken instead: a program would find an empty keychain there, or keep secrets in a place that it does not mean.
    func host(for configuration: KeychainConfiguration) throws(KeychainError) -> ChosenHost {
        if let host = configuration.host { return try chosen(host, configuration) }
        if configuration.storeDirectory != nil { return try embedded(configuration) }
        // From here on another program of the user may have chosen.
        try fileGroup?.requirePresence()
        if let name = environment.variables["KEYCHAIN_HOST"], !name.isEmpty {
            return try chosen(try KeychainConfiguration.Host(name: name, from: "KEYCHAIN_HOST"), configuration)
        }
        if let home = environment.variables["KEYCHAIN_HOME"], !home.isEmpty { return try embedded(configuration) }
        if let name = try machineChoice() {
            let host = try KeychainConfiguration.Host(name: name, from: machineFile.path)
            let chosen = try chosen(host, configuration)
            if case .daemon(let address) = chosen { return .daemon(address.named(in: machineFile)) }
            return chosen
        }
        // The secrets of a program with a group of its own are not for a host that its user's other programs choose.
        if fileGroup != nil { return try chosen(.system, configuration) }
        let location = try StoreLocation(configuration, environment: environment)
        return switch try StoreHost(ofStore: location.storeDirectory) {
        case .embedded: .embedded(location)
        case .user: try chosen(.user, configuration)
        case .system: try chosen(.system, configuration)
        case .moving, .moved: throw .isMoved(location.storeDirectory)
        }
    }

    /// The store whose mark programs go by if they choose nothing.
    private func usual() throws(KeychainError) -> StoreLocation {
        var variables = environment.variables
        variables["KEYCHAIN_HOME"] = nil
        return try StoreLocation(KeychainConfiguration(), environment: Environment(variables: variables))
    }

    func isUsual(_ location: StoreLocation) throws(KeychainError) -> Bool {
        let place = try usual()
        func areOne(_ one: URL, _ other: URL) -> Bool {
            one.standardizedFileURL.resolvingSymlinksInPath() == other.standardizedFileURL.resolvingSymlinksInPath()
        }
        return areOne(place.storeDirectory, location.storeDirectory)
            && areOne(place.deviceKeyDirectory, location.deviceKeyDirectory)
    }

    /// - Throws: `.notAvailable` for another store than the one whose mark programs go by if they choose nothing.
    func requireUsual(_ location: StoreLocation) throws(KeychainError) {
        guard try isUsual(location) else {
            let place = try usual()
            throw KeychainError(
                .notAvailable,
                message: "the system's keychaind has one keychain for each user, which goes with the one in "
                    + "\(place.storeDirectory.path): without --store, --device-key and KEYCHAIN_HOME. Nothing was changed"
            )
        }
    }

    /// Says what leads programs to another host, whatever the mark says; nil: nothing does.
    func detour(from host: StoreHost) throws(KeychainError) -> String? {
        try leads().first { $0.word != host.rawValue }.map(detour)
    }

    /// Says what leads programs to the present host of a store, and not to its next one; nil: nothing does.
    func detour(from present: StoreHost, to next: StoreHost) throws(KeychainError) -> String? {
        try leads().first { $0.word == present.rawValue && $0.word != next.rawValue }.map(detour)
    }

    private func detour(_ lead: (origin: String, word: String)) -> String {
        "\(lead.origin) leads programs to another keychain (\(lead.word)), where they do not find what is moved: take "
            + "that away"
    }

    /// The words that are heard before the mark. The first is heard by programs that have the variable, the second by others.
    private func leads() throws(KeychainError) -> [(origin: String, word: String)] {
        let own = (try? SocketLocation.ofUser(environment, user)).map { "unix:" + $0.path }
        let machine = try machineChoice()
        return [("KEYCHAIN_HOST", environment.variables["KEYCHAIN_HOST"]), (machineFile.path, machine)]
            .compactMap { origin, word in
                guard let word, !word.isEmpty else { return nil }
                return (origin, word == own ? StoreHost.user.rawValue : word)
            }
    }

    private func chosen(
        _ host: KeychainConfiguration.Host, _ configuration: KeychainConfiguration
    ) throws(KeychainError) -> ChosenHost {
        switch host.kind {
        case .embedded: try embedded(configuration)
        case .user: .daemon(DaemonAddress(ofUser: try SocketLocation.ofUser(environment, user), owner: user))
        case .system: .daemon(.ofSystem)
        case .socket(let path): .daemon(DaemonAddress(path: path, owners: [user, 0]))
        }
    }

    private func embedded(_ configuration: KeychainConfiguration) throws(KeychainError) -> ChosenHost {
        .embedded(try StoreLocation(configuration, environment: environment))
    }

    /// The first line that is no remark; nil: the administrator says nothing.
    private func machineChoice() throws(KeychainError) -> String? {
        try HostFile.word(at: machineFile)
    }
}

extension StoreLocation {
    /// - Throws: `.notAvailable` if programs that find the usual store at its present host would not find it at the next
    ///   one. For another store each program says itself where it is.
    package func requireNoDetour(from present: StoreHost, to next: StoreHost) throws(KeychainError) {
        let choice = HostChoice()
        guard try choice.isUsual(self), let detour = try choice.detour(from: present, to: next) else { return }
        throw KeychainError(.notAvailable, message: "\(detour). Nothing was changed")
    }

    /// Calls ``HostChoice/requireUsual(_:)``, and then ``HostChoice/detour(from:)``.
    package func detour(from host: StoreHost) throws(KeychainError) -> String? {
        try HostChoice().requireUsual(self)
        return try HostChoice().detour(from: host)
    }
}

/// A file that names a host in its first line; empty lines, and lines that begin with "#", do not count.
enum HostFile {
    /// A longer file is something else.
    private static let mostBytes = 4096

    /// nil: there is no such file, or nothing in it.
    ///
    /// - Throws: `.notAvailable` if it cannot be read.
    static func word(at url: URL) throws(KeychainError) -> String? {
        let file = open(url.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        if file < 0 && (errno == ENOENT || errno == ENOTDIR) { return nil }
        guard file >= 0 else { throw unreadable(url, errno) }
        defer { close(file) }
        guard let content = OpenDescriptor.content(of: file, most: mostBytes) else { throw unreadable(url, errno) }
        let text = String(decoding: content, as: UTF8.self)
        let lines = text.split(whereSeparator: \.isNewline).map { $0.trimming(while: \.isWhitespace) }
        return lines.first { !$0.isEmpty && !$0.hasPrefix("#") }
    }

    private static func unreadable(_ url: URL, _ failure: Int32) -> KeychainError {
        KeychainError(
            .notAvailable,
            message: "\(url.path), which says where the keychain is, cannot be read: "
                + String(cString: strerror(failure)))
    }
}

extension KeychainConfiguration.Host {
    /// - Parameter origin: The place of the name, for the error.
    fileprivate init(name: String, from origin: String) throws(KeychainError) {
        switch name {
        case "embedded": self = .embedded
        case "user": self = .user
        case "system": self = .system
        default:
            let prefix = "unix:"
            guard name.hasPrefix(prefix + "/") else {
                throw KeychainError(
                    .notAvailable,
                    message: "\(origin) says where the keychain is, and can be embedded, user, system or unix:/PATH; "
                        + "it is \"\(name)\"")
            }
            self = .socket(URL(fileURLWithPath: String(name.dropFirst(prefix.count))))
        }
    }
}
