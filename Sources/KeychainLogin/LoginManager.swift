package import Glibc
package import KeychainBus
package import KeychainModel
internal import KeychainSystem

/// systemd-logind, as far as it concerns a keychain: whether the session is locked or ends, whether the system
/// sleeps or shuts down.
package final class LoginManager {
    /// The sessions that are watched.
    package enum Scope: Sendable {
        /// The session of this process, which may know its id; if it has none, every session of the user.
        case ownSession(id: String?)
        /// Every session of the user, whether this process belongs to one or not.
        case allOfUser
    }

    package enum Event: Equatable {
        /// A program asked for the session to be locked, such as `loginctl lock-session`.
        case lockRequested
        /// The desktop says that its screen is locked. Most desktops lock it themselves without a request.
        case locked
        case unlockRequested
        case goingToSleep
        case awake
        case shuttingDown
        case shutdownCancelled
        /// The session watched, or the user's last one, is over.
        case sessionsEnded
        /// The service logind itself ended or was started anew: events meanwhile are lost.
        case gone
    }

    private let bus: SystemBus
    /// nil: one session is watched, that of this process; otherwise every session of this user.
    private let user: uid_t?
    /// The sessions by object path, with the last known state of their screens.
    private var isLocked: [String: Bool] = [:]
    /// logind's connection.
    private var owner = ""

    package init(_ bus: SystemBus, _ scope: Scope, user: uid_t = geteuid()) throws(BusFailure) {
        self.bus = bus
        // First, so that nothing is missed between looking and listening.
        for rule in Name.rules { _ = try bus.call(.ofBus("AddMatch"), [rule]) }
        if case .ownSession(let id) = scope, let path = try Self.session(of: bus, id) {
            self.user = nil
            isLocked[path] = try isScreenLocked(path) ?? false
        } else {
            // Such as a user's service, which starts before the first session is complete and outlives it. Which of
            // the user's sessions logind calls the display changes meanwhile, so all of them count.
            self.user = user
            try addSessions()
        }
        guard let owner = try bus.call(.ofBus("GetNameOwner"), [Name.manager]).values().first?.text else {
            throw BusFailure("the bus does not tell who \(Name.manager) is", number: EBADMSG)
        }
        self.owner = owner
    }

    /// The watched sessions, for a person.
    var subject: String { user == nil ? "this session" : "the sessions of this user" }

    /// Whether a screen was locked when it was last looked at.
    var isAnyLocked: Bool { isLocked.values.contains(true) }

    /// The descriptor and the events that a poll has to wait for before there can be an event.
    func wait() throws(BusFailure) -> (descriptor: pollfd, timeout: Int32) { try bus.wait() }

    /// Has logind wait with the system's sleep until the descriptor is closed, for five seconds unless it is set
    /// otherwise.
    func delaySleep() throws(BusFailure) -> OpenDescriptor {
        let reply = try bus.call(.ofManager("Inhibit"), ["sleep", "keychain", "to lock the keychain first", "delay"])
        guard case .descriptor(let descriptor) = try reply.values().first else {
            throw BusFailure("logind gave no inhibitor", number: EBADMSG)
        }
        return descriptor
    }

    /// The next event that has come; nil: none so far.
    func nextEvent() throws(BusFailure) -> Event? {
        while let message = try bus.receive() {
            if let event = try event(in: message) { return event }
        }
        return nil
    }

    /// Looks at every session anew, because logind sends no signal if a person left while a process stays.
    func review() throws(BusFailure) -> Event? {
        var event: Event?
        for path in isLocked.keys { event = try review(path) ?? event }
        return event
    }

    // MARK: Sessions

    /// The session that this process belongs to; nil: none.
    private static func session(of bus: SystemBus, _ id: String?) throws(BusFailure) -> String? {
        // The empty one means the caller's.
        for id in [id, ""].compactMap(\.self) {
            do throws(BusFailure) {
                return try bus.call(.ofManager("GetSession"), [id]).values().first?.text
            } catch  where error.meansNoSession {}
        }
        return nil
    }

    /// Looks for sessions of the user that are not watched yet.
    private func addSessions() throws(BusFailure) {
        let values = try bus.call(.ofManager("ListSessions")).values()
        // Each is an id, a user's number, a user's name, a seat and an object path.
        for start in stride(from: 0, to: values.count - 4, by: 5) {
            guard let path = values[start + 4].text, let owner = values[start + 1].number,
                owner == user.map(Int64.init), isLocked[path] == nil, try isForPerson(path)
            else { continue }
            isLocked[path] = try isScreenLocked(path)
        }
    }

    /// Whether a person logged in there: cron's sessions and the service manager's own come and go by themselves.
    private func isForPerson(_ path: String) throws(BusFailure) -> Bool {
        try property("Class", of: path)?.text?.hasPrefix("user") ?? false
    }

    /// - Returns: nil if the session is over. One whose person has left stays in logind's list as long as any of its
    ///   processes runs, and this one may be among them.
    private func isScreenLocked(_ path: String) throws(BusFailure) -> Bool? {
        guard let state = try property("State", of: path)?.text, state != "closing" else { return nil }
        return try property("LockedHint", of: path)?.number.map { $0 != 0 }
    }

    /// Looks what became of a session that is watched.
    private func review(_ path: String) throws(BusFailure) -> Event? {
        guard let now = try isScreenLocked(path) else { return end(path) }
        let before = isLocked.updateValue(now, forKey: path)
        return now && before == false ? .locked : nil
    }

    private func end(_ path: String) -> Event? {
        guard isLocked.removeValue(forKey: path) != nil else { return nil }
        return isLocked.isEmpty ? .sessionsEnded : nil
    }

    /// - Returns: nil if the session is over.
    private func property(_ name: String, of path: String) throws(BusFailure) -> BusMessage.Value? {
        let get = BusMethod(destination: Name.manager, path: path, interface: Name.properties, member: "Get")
        do throws(BusFailure) {
            return try bus.call(get, [Name.session, name]).values().first
        } catch  where error.meansNoSession {
            return nil
        }
    }

    // MARK: Signals

    /// A match rule only chooses among broadcasts. Any program may send a signal to this connection alone, so its
    /// sender is looked at here.
    private func event(in message: BusMessage) throws(BusFailure) -> Event? {
        switch message.sender {
        case owner: try loginEvent(in: message)
        case Name.bus: try ownerEvent(in: message)
        default: nil
        }
    }

    private func loginEvent(in message: BusMessage) throws(BusFailure) -> Event? {
        switch (message.interface, message.member) {
        case (Name.managerInterface, "PrepareForSleep"): try message.isTrue ? .goingToSleep : .awake
        case (Name.managerInterface, "PrepareForShutdown"): try message.isTrue ? .shuttingDown : .shutdownCancelled
        case (Name.managerInterface, "SessionNew"): try sessionCame()
        case (Name.managerInterface, "SessionRemoved"): try sessionWent(message)
        case (Name.session, "Lock"): isWatched(message) ? .lockRequested : nil
        case (Name.session, "Unlock"): isWatched(message) ? .unlockRequested : nil
        case (Name.properties, "PropertiesChanged"): try sessionChanged(message)
        default: nil
        }
    }

    private func isWatched(_ message: BusMessage) -> Bool {
        message.path.map { isLocked[$0] != nil } ?? false
    }

    private func sessionCame() throws(BusFailure) -> Event? {
        guard user != nil else { return nil }
        let before = isAnyLocked
        try addSessions()
        return isAnyLocked && !before ? .locked : nil
    }

    private func sessionWent(_ message: BusMessage) throws(BusFailure) -> Event? {
        try message.values().last?.text.flatMap(end)
    }

    /// Something about a session is different: only its screen and its end matter here.
    private func sessionChanged(_ message: BusMessage) throws(BusFailure) -> Event? {
        guard let path = message.path, isLocked[path] != nil else { return nil }
        return try review(path)
    }

    private func ownerEvent(in message: BusMessage) throws(BusFailure) -> Event? {
        guard message.interface == Name.bus, message.member == "NameOwnerChanged" else { return nil }
        let values = try message.values().map(\.text)
        guard values.count == 3, values[0] == Name.manager else { return nil }
        // A late signal may tell of the known owner.
        return values[2] == owner ? nil : .gone
    }
}

private enum Name {
    static let bus = BusMethod.busName
    static let manager = "org.freedesktop.login1"
    static let managerInterface = "org.freedesktop.login1.Manager"
    static let managerPath = "/org/freedesktop/login1"
    static let session = "org.freedesktop.login1.Session"
    static let properties = "org.freedesktop.DBus.Properties"

    static let rules = [
        "type='signal',sender='\(manager)',path='\(managerPath)',interface='\(managerInterface)'",
        "type='signal',sender='\(manager)',path_namespace='\(managerPath)/session',interface='\(session)'",
        "type='signal',sender='\(manager)',path_namespace='\(managerPath)/session',interface='\(properties)',"
            + "member='PropertiesChanged',arg0='\(session)'",
        "type='signal',sender='\(bus)',interface='\(bus)',member='NameOwnerChanged',arg0='\(manager)'",
    ]
}

extension BusMethod {
    fileprivate static func ofManager(_ member: String) -> BusMethod {
        BusMethod(
            destination: Name.manager, path: Name.managerPath, interface: Name.managerInterface, member: member)
    }
}

extension BusMessage {
    /// Whether its only value is true.
    fileprivate var isTrue: Bool {
        get throws(BusFailure) { try values().first?.number == 1 }
    }
}

extension BusFailure {
    /// Whether logind answered that there is no such session any more.
    fileprivate var meansNoSession: Bool {
        [
            "org.freedesktop.login1.NoSuchSession", "org.freedesktop.login1.NoSessionForPID",
            "org.freedesktop.DBus.Error.UnknownObject",
        ].contains(name)
    }
}

// MARK: Connecting

extension LoginManager {
    /// Connects to the system's logind.
    ///
    /// - Throws: `.notAvailable`, with advice on the packages to install.
    package static func connect(_ scope: Scope, user: uid_t = geteuid()) throws(KeychainError) -> LoginManager {
        let bus: SystemBus
        do throws(BusFailure) {
            bus = try SystemBus()
        } catch  where error.number == ELIBACC {
            throw missing("libsystemd.so.0 cannot be loaded", error, install: "libsystemd0 or systemd-libs")
        } catch {
            throw missing("the system's message bus cannot be reached", error, install: "and start dbus")
        }
        do throws(BusFailure) {
            return try LoginManager(bus, scope, user: user)
        } catch {
            throw missing(
                "systemd-logind does not answer", error, install: "systemd and libpam-systemd, and start systemd-logind"
            )
        }
    }

    private static func missing(_ what: String, _ failure: BusFailure, install: String) -> KeychainError {
        KeychainError(
            .notAvailable,
            message: "\(what) (\(failure.text)), without which nothing tells when the session is locked: "
                + "install \(install)",
            cause: failure)
    }
}
