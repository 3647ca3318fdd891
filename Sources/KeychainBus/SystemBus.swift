internal import CKeychainBus
package import Glibc
package import KeychainSystem

/// The fault of a call or of the bus itself.
package struct BusFailure: Error {
    /// The error's name on the bus; empty if it arose before there was one.
    package var name = ""
    package var text: String
    /// An errno value, with which libsystemd says the same more coarsely.
    package var number: Int32

    package init(_ text: String, number: Int32) {
        self.text = text
        self.number = number
    }

    fileprivate init(_ failure: ckeychain_bus_failure) {
        name = withUnsafeBytes(of: failure.name, Self.text)
        text = withUnsafeBytes(of: failure.text, Self.text)
        number = failure.number
    }

    private static func text(_ characters: UnsafeRawBufferPointer) -> String {
        String(decoding: characters.prefix { $0 != 0 }, as: UTF8.self)
    }
}

/// A method of an object on the bus. All that are called here take strings, but for an ``AuthorizationCheck``.
package struct BusMethod {
    package var destination: String
    package var path: String
    package var interface: String
    package var member: String

    package init(destination: String, path: String, interface: String, member: String) {
        self.destination = destination
        self.path = path
        self.interface = interface
        self.member = member
    }
}

extension BusMethod {
    /// The name of the bus itself, and its interface.
    package static let busName = "org.freedesktop.DBus"

    /// A method of the bus itself.
    package static func ofBus(_ member: String) -> BusMethod {
        BusMethod(destination: busName, path: "/org/freedesktop/DBus", interface: busName, member: member)
    }
}

/// A connection to a message bus, through libsystemd, which is loaded at run time. It belongs to one thread.
package final class SystemBus {
    /// The system's bus: `DBUS_SYSTEM_BUS_ADDRESS` is not heeded, since it can be set by the program that starts
    /// another, and for a daemon by every program of its user.
    package static let systemAddress = "unix:path=/run/dbus/system_bus_socket"

    private let connection: OpaquePointer

    /// - Throws: `ELIBACC` if libsystemd cannot be loaded.
    package init(address: String = systemAddress) throws(BusFailure) {
        var opened: OpaquePointer?
        try Self.check { ckeychain_bus_load(&$0) }
        try Self.check { ckeychain_bus_open(address, &opened, &$0) }
        connection = opened!  // there was no failure
    }

    deinit { ckeychain_bus_close(connection) }

    /// Calls a method and waits for its reply, for ten seconds at most.
    package func call(_ method: BusMethod, _ arguments: [String] = []) throws(BusFailure) -> BusMessage {
        var reply: OpaquePointer?
        try Self.check(arguments) { strings, failure in
            ckeychain_bus_call(
                connection, method.destination, method.path, method.interface, method.member, strings, &reply, &failure)
        }
        return BusMessage(reply!)  // there was no failure
    }

    /// Calls a method and does not wait. The reply comes among the received messages, and has the cookie returned.
    package func send(_ method: BusMethod, _ arguments: [String] = []) throws(BusFailure) -> UInt64 {
        var cookie: UInt64 = 0
        try Self.check(arguments) { strings, failure in
            ckeychain_bus_send(
                connection, method.destination, method.path, method.interface, method.member, strings, &cookie, &failure
            )
        }
        return cookie
    }

    /// Asks polkit, and does not wait, as above.
    package func send(_ check: AuthorizationCheck) throws(BusFailure) -> UInt64 {
        var cookie: UInt64 = 0
        try Self.check { failure in
            ckeychain_bus_send_check(
                connection, check.destination, check.action, check.process, check.start, check.user, &cookie,
                &failure)
        }
        return cookie
    }

    /// The next message that has come; nil: none so far.
    package func receive() throws(BusFailure) -> BusMessage? {
        var message: OpaquePointer?
        try Self.check { ckeychain_bus_receive(connection, &message, &$0) }
        return message.map(BusMessage.init)
    }

    /// The descriptor and the events that a poll has to wait for before something can be received, and for how many
    /// milliseconds at most (-1: no limit).
    package func wait() throws(BusFailure) -> (descriptor: pollfd, timeout: Int32) {
        var wait = ckeychain_bus_wait()
        try Self.check { ckeychain_bus_get_wait(connection, &wait, &$0) }
        return (pollfd(fd: wait.descriptor, events: wait.events, revents: 0), wait.timeout)
    }

    private static func check(_ body: (inout ckeychain_bus_failure) -> Int32) throws(BusFailure) {
        var failure = ckeychain_bus_failure()
        if body(&failure) < 0 { throw BusFailure(failure) }
    }

    /// - Parameter body: Is given the strings as C has them, with NULL at their end.
    private static func check(
        _ strings: [String], _ body: ([UnsafePointer<CChar>?], inout ckeychain_bus_failure) -> Int32
    ) throws(BusFailure) {
        var copies = strings.map { UnsafePointer(strdup($0)) }
        defer { for copy in copies { free(UnsafeMutablePointer(mutating: copy)) } }
        copies.append(nil)
        var failure = ckeychain_bus_failure()
        if body(copies, &failure) < 0 { throw BusFailure(failure) }
    }
}

/// A message that came over the bus.
package final class BusMessage {
    package enum Value {
        case text(String)
        case number(Int64)
        case descriptor(OpenDescriptor)
    }

    private let message: OpaquePointer

    fileprivate init(_ message: OpaquePointer) { self.message = message }

    deinit { ckeychain_bus_release(message) }

    /// The connection it comes from, which the bus vouches for.
    package var sender: String? { ckeychain_bus_sender(message).map { String(cString: $0) } }
    package var path: String? { ckeychain_bus_path(message).map { String(cString: $0) } }
    package var interface: String? { ckeychain_bus_interface(message).map { String(cString: $0) } }
    package var member: String? { ckeychain_bus_member(message).map { String(cString: $0) } }

    /// The cookie of the call that it answers; nil: it is no answer.
    package var replyCookie: UInt64? {
        let cookie = ckeychain_bus_reply_cookie(message)
        return cookie == 0 ? nil : cookie
    }

    /// The failure that it tells the caller of; nil: it is another answer, or none.
    package var failure: BusFailure? {
        var failure = ckeychain_bus_failure()
        return ckeychain_bus_get_error(message, &failure) < 0 ? BusFailure(failure) : nil
    }

    /// Every basic value, those within arrays, structures and variants as if they stood by themselves. A caller may ask
    /// for them once.
    package func values() throws(BusFailure) -> [Value] {
        var values: [Value] = []
        while true {
            var value = ckeychain_bus_value()
            let result = ckeychain_bus_next_value(message, &value)
            if result < 0 { throw BusFailure("a message cannot be read", number: -result) }
            if result == 0 { return values }
            values.append(try Self.value(value))
        }
    }

    private static func value(_ value: ckeychain_bus_value) throws(BusFailure) -> Value {
        if let text = value.text { return .text(String(cString: text)) }
        guard value.type == CChar(UInt8(ascii: "h")) else { return .number(value.number) }
        // The message's own goes when the message goes.
        let copy = fcntl(Int32(value.number), F_DUPFD_CLOEXEC, 0)
        if copy < 0 { throw BusFailure("a descriptor cannot be kept", number: errno) }
        return .descriptor(OpenDescriptor(copy))
    }
}

extension BusMessage.Value {
    package var text: String? {
        if case .text(let text) = self { text } else { nil }
    }

    package var number: Int64? {
        if case .number(let number) = self { number } else { nil }
    }
}
