internal import KeychainModel
internal import KeychainSystem
internal import KeychainWire

/// The daemon's wish to end, with its reason.
final class EndRequest: Sendable {
    let event: EventDescriptor
    private let ending = Ending()

    init() throws(KeychainError) { event = try EventDescriptor.make() }

    /// nil: the daemon is not to end.
    var goodbye: DaemonGoodbye? { ending.goodbye }

    func set(_ goodbye: DaemonGoodbye) {
        ending.set(goodbye)
        event.set()
    }
}

extension EventDescriptor {
    static func make() throws(KeychainError) -> EventDescriptor {
        do throws(SystemError) { return try EventDescriptor() } catch {
            throw KeychainError(.allocation, message: error.message)
        }
    }
}
