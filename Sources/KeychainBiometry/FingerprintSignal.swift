internal import KeychainBus

/// The signals of fprintd about a reader that verifies.
enum FingerprintSignal: Equatable {
    /// Which finger it waits for; "any" if it takes each that is enrolled.
    case selected(String)
    case match
    case noMatch
    /// It could not see well enough, and goes on looking.
    case retry(Retry)
    case disconnected
    /// The reader stopped looking, for another reason.
    case stopped(String)

    enum Retry: Equatable {
        case tooShort, notCentred, remove, other
    }

    /// - Parameter isDone: Whether it has stopped looking.
    init(status: String, isDone: Bool) {
        self =
            switch status {
            case "verify-match": .match
            case "verify-no-match": .noMatch
            case "verify-swipe-too-short": .retry(.tooShort)
            case "verify-finger-not-centered": .retry(.notCentred)
            case "verify-remove-and-retry": .retry(.remove)
            case "verify-disconnected": .disconnected
            default: isDone ? .stopped(status) : .retry(.other)
            }
    }

    /// - Returns: nil if it is another signal.
    init?(_ member: String?, _ values: [BusMessage.Value]) {
        switch member {
        case "VerifyFingerSelected":
            guard let finger = values.first?.text else { return nil }
            self = .selected(finger)
        case "VerifyStatus":
            guard values.count == 2, let status = values[0].text, let isDone = values[1].number else { return nil }
            self.init(status: status, isDone: isDone != 0)
        default: return nil
        }
    }
}

enum Name {
    static let service = "net.reactivated.Fprint"
    static let manager = "net.reactivated.Fprint.Manager"
    static let device = "net.reactivated.Fprint.Device"
    static let properties = "org.freedesktop.DBus.Properties"

    static let noEnrolledPrints = "net.reactivated.Fprint.Error.NoEnrolledPrints"

    static let rules = [
        "type='signal',sender='\(service)',interface='\(device)'",
        "type='signal',sender='\(BusMethod.busName)',interface='\(BusMethod.busName)',member='NameOwnerChanged',"
            + "arg0='\(service)'",
    ]
}

extension BusMethod {
    /// - Parameter owner: fprintd's connection.
    static func ofManager(_ member: String, at owner: String) -> BusMethod {
        BusMethod(
            destination: owner, path: "/net/reactivated/Fprint/Manager", interface: Name.manager, member: member)
    }

    static func ofDevice(_ member: String, _ path: String, at owner: String) -> BusMethod {
        BusMethod(destination: owner, path: path, interface: Name.device, member: member)
    }
}
