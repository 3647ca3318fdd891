internal import Foundation
internal import KeychainClient
internal import KeychainModel

/// Removes what has expired, every now and then, on a thread of its own: the watcher's has to lock before the machine sleeps,
/// and must not wait for other programs that write.
enum ExpirySweeper {
    private static let interval: TimeInterval = 20

    /// Ends with the process. A removal that is cut short is done by the next program that writes.
    static func start(_ options: StoreOptions) {
        let thread = Thread {
            var lastTrouble: String?
            while true {
                let trouble = sweep(options)
                if let trouble, trouble != lastTrouble {
                    Console.complain("cannot remove what has expired: \(trouble)")
                }
                lastTrouble = trouble
                Thread.sleep(forTimeInterval: interval)
            }
        }
        thread.name = "expiry"
        thread.start()
    }

    /// - Returns: what went wrong; nil also if there is no keychain, or one that is being made.
    static func sweep(_ options: StoreOptions) -> String? {
        do throws(KeychainError) {
            let session = try KeychainSession.existing(options)
            guard session.presence == .present else { return nil }
            _ = try session.connection.ask(.removeExpired)
            return nil
        } catch {
            return error.code == .itemNotFound ? nil : error.message
        }
    }
}
