internal import FoundationEssentials
internal import KeychainClient
internal import KeychainModel
internal import KeychainSystem

/// Removes expired items now and then, on a thread of its own: the watcher's thread has to lock before the machine
/// sleeps, and must not wait for other programs that write.
enum ExpirySweeper {
    private static let interval = Duration.seconds(20)

    /// Starts the thread, which ends with the process. The next program that writes completes a removal that was cut
    /// short.
    static func start(_ options: StoreOptions) throws(KeychainError) {
        try WorkerThread.start("expiry") {
            var lastTrouble: String?
            while true {
                let trouble = sweep(options)
                if let trouble, trouble != lastTrouble {
                    Console.complain("cannot remove what has expired: \(trouble)")
                }
                lastTrouble = trouble
                WorkerThread.sleep(for: interval)
            }
        }
    }

    /// - Returns: the message of a failure. A keychain that is missing, or not whole yet, is no failure.
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
