internal import Glibc
internal import KeychainBus
internal import KeychainModel
internal import KeychainSystem

/// The service fprintd, on a connection of its own: when that ends, fprintd releases a claimed reader.
///
/// Its functions throw `.notAvailable`, `.failed` or `.cancelled`, and the errors that each names.
final class FingerprintService {
    private let bus: BusConversation
    private let limits: FingerprintLimits
    private let person: FingerprintPerson
    /// The name of fprintd's connection, which the bus gives to no other program.
    private let owner: String

    /// Connects, and starts fprintd if it does not run.
    init(
        _ address: String, _ limits: FingerprintLimits, _ person: FingerprintPerson, _ wakeup: EventDescriptor
    ) throws(BiometryFailure) {
        self.person = person
        let bus: BusConversation
        do throws(BusFailure) {
            bus = try BusConversation(address, wakeup)
        } catch {
            throw BiometryFailure(connecting: error)
        }
        do throws(CallFailure) {
            // The rules come first, so that no signal is missed.
            for rule in Name.rules { _ = try bus.call(.ofBus("AddMatch"), [rule], for: limits.answer) }
            // Starts it. Its answer is not used: the owner of the name is asked again later.
            _ = try bus.call(.ofManager("GetDevices", at: Name.service), [], for: limits.answer)
            let answer = try bus.call(.ofBus("GetNameOwner"), [Name.service], for: limits.answer)
            guard let owner = answer.first?.text else { throw CallFailure.noAnswer }
            self.owner = owner
        } catch {
            throw BiometryFailure(error)
        }
        (self.bus, self.limits) = (bus, limits)
    }

    // MARK: Asking

    /// The first reader with a finger of this user.
    ///
    /// - Throws: `.notEnrolled` if no reader has one.
    func device() throws(BiometryFailure) -> FingerprintDevice {
        let paths = try call(.ofManager("GetDevices", at: owner)).compactMap(\.text)
        if paths.isEmpty { throw .notAvailable("fprintd knows of no fingerprint reader on this machine") }
        for path in paths {
            let fingers = try fingers(on: path)
            if !fingers.isEmpty { return try device(at: path, with: fingers) }
        }
        throw .notEnrolled(
            "no finger of this user is enrolled: enrol one in the desktop's settings or with fprintd-enroll")
    }

    /// Returns a reader with its present fingers.
    ///
    /// - Throws: `.notEnrolled` if it has no finger of this user any more.
    func renewed(_ device: FingerprintDevice) throws(BiometryFailure) -> FingerprintDevice {
        let fingers = try fingers(on: device.path)
        if fingers.isEmpty { throw .notEnrolled("no finger of this user is enrolled any more") }
        return try self.device(at: device.path, with: fingers)
    }

    private func device(at path: String, with fingers: [String]) throws(BiometryFailure) -> FingerprintDevice {
        let name = try property("name", of: path)
        return FingerprintDevice(
            path: path, name: name, isSwiped: try property("scan-type", of: path) == "swipe", fingers: fingers,
            user: person.user)
    }

    /// The names of this user's fingers.
    private func fingers(on path: String) throws(BiometryFailure) -> [String] {
        do throws(CallFailure) {
            let list = BusMethod.ofDevice("ListEnrolledFingers", path, at: owner)
            return try bus.call(list, [person.name], for: limits.answer).compactMap(\.text)
        } catch {
            if case .refused(let failure) = error, failure.name == Name.noEnrolledPrints { return [] }
            throw BiometryFailure(error)
        }
    }

    private func property(_ name: String, of path: String) throws(BiometryFailure) -> String {
        let get = BusMethod(destination: owner, path: path, interface: Name.properties, member: "Get")
        guard let text = try call(get, [Name.device, name]).first?.text else {
            throw .failed("fprintd does not tell the \(name) of its reader")
        }
        return text
    }

    private func call(_ method: BusMethod, _ arguments: [String] = []) throws(BiometryFailure) -> [BusMessage.Value] {
        do throws(CallFailure) {
            return try bus.call(method, arguments, for: limits.answer)
        } catch {
            throw BiometryFailure(error)
        }
    }

    // MARK: Verifying

    /// - Throws: `.busy`.
    func claim(_ device: FingerprintDevice) throws(BiometryFailure) {
        _ = try call(.ofDevice("Claim", device.path, at: owner), [person.name])
    }

    /// Lets the reader look, with any finger that it can.
    func startVerifying(_ device: FingerprintDevice) throws(BiometryFailure) {
        _ = try call(.ofDevice("VerifyStart", device.path, at: owner), ["any"])
        // It tells of a finger after that. The signals so far are of a finger before.
        bus.forgetOthers()
    }

    func stopVerifying(_ device: FingerprintDevice) throws(BiometryFailure) {
        _ = try call(.ofDevice("VerifyStop", device.path, at: owner))
    }

    /// Ends the work on a reader, also when it is cancelled. If that fails, nothing is left to do: fprintd does the
    /// same when the connection ends.
    func release(_ device: FingerprintDevice, isVerifying: Bool) {
        for member in isVerifying ? ["VerifyStop", "Release"] : ["Release"] {
            let method = BusMethod.ofDevice(member, device.path, at: owner)
            do throws(CallFailure) {
                _ = try bus.call(method, [], for: limits.release, isUrgent: true)
            } catch { continue }
        }
    }

    /// Whether fprintd says that it has no such reader any more.
    func isGone(_ device: FingerprintDevice) -> Bool {
        do throws(CallFailure) {
            let paths = try bus.call(.ofManager("GetDevices", at: owner), [], for: limits.release, isUrgent: true)
            return !paths.compactMap(\.text).contains(device.path)
        } catch { return false }
    }

    /// The next thing that fprintd says of a reader that verifies.
    ///
    /// - Returns: nil if it says nothing for so long.
    func nextSignal(
        of device: FingerprintDevice, until deadline: ContinuousClock.Instant
    ) throws(BiometryFailure) -> FingerprintSignal? {
        do throws(CallFailure) {
            while let message = try bus.next(until: deadline) {
                if let signal = try signal(in: message, of: device) { return signal }
            }
            return nil
        } catch {
            throw BiometryFailure(error)
        }
    }

    /// A match rule only chooses among broadcasts. Any program may send a signal to this connection alone, so its
    /// sender is looked at here.
    ///
    /// - Throws: `.lost` if it says that fprintd has ended.
    private func signal(
        in message: BusMessage, of device: FingerprintDevice
    ) throws(CallFailure) -> FingerprintSignal? {
        switch (message.sender, message.interface) {
        case (owner, Name.device) where message.path == device.path:
            return FingerprintSignal(message.member, try bus.values(of: message))
        case (BusMethod.busName, BusMethod.busName) where message.member == "NameOwnerChanged":
            // The name, its owner until now, its owner from now on.
            let values = try bus.values(of: message).map(\.text)
            guard values.count == 3, values[0] == Name.service, values[1] == owner else { return nil }
            throw .lost(BusFailure("fprintd has ended", number: EPIPE))
        default: return nil
        }
    }
}
