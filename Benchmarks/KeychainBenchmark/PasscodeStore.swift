internal import Foundation
internal import Glibc
internal import KeychainEngine
internal import KeychainModel

/// A copy of a filled store with a passcode, unlocked: the one that is kept stays without.
struct PasscodeStore {
    let layout: StoreLayout
    private let directory: URL

    /// Makes the copy and brings all its rows under the keys that the passcode protects. Whatever happens in `body`,
    /// nothing is left in the kernel's keyring or on the disk.
    static func with<R>(copyOf layout: StoreLayout, _ body: (PasscodeStore) throws -> R) throws -> R {
        let store = PasscodeStore(layout: layout, directory: layout.copy)
        try store.remove()
        defer { try? store.remove() }  // the next run removes what is left, too
        try FileManager.default.copyItem(at: layout.engine, to: store.directory)
        try store.withEngine(durable: false, isUnlocked: false) { engine in
            try engine.ask(.passcode(.set(Passcodes.first)))
            while try !engine.rekeyStep().isFinished {}
        }
        // What was written without waiting for the disk must not be written while something is timed.
        sync()
        return try body(store)
    }

    /// Calls `body` with an engine on the copy, unlocked. No two at a time: copies of one store share their place in the
    /// keyring.
    ///
    /// - Parameter isUnlocked: false for a store that has no passcode yet.
    func withEngine<R>(
        durable: Bool = true, passcodeCost: Int? = nil, isUnlocked: Bool = true, _ body: (Engine) throws -> R
    ) throws -> R {
        let engine = try makeEngine(directory: directory, durable: durable, passcodeCost: passcodeCost)
        defer { engine.withdrawKeys() }
        if isUnlocked { try engine.ask(.unlock(Passcodes.first)) }
        return try body(engine)
    }

    private func remove() throws {
        if FileManager.default.fileExists(atPath: directory.path) { try FileManager.default.removeItem(at: directory) }
    }
}

/// The passcodes of a benchmark, in turn.
struct Passcodes {
    /// What the copy of a store is given.
    static var first: SecretBytes { passcode(0) }

    private var number = 0

    var present: SecretBytes { Self.passcode(number) }
    var next: SecretBytes { Self.passcode(1 - number) }

    mutating func advance() { number = 1 - number }

    private static func passcode(_ number: Int) -> SecretBytes {
        SecretBytes(copying: Data("passcode number \(number)".utf8))
    }
}

extension Engine {
    @discardableResult
    func ask(_ request: Request) throws -> Reply { try handle(request, from: SampleItem.caller) }

    func rekeyStep() throws -> RekeyProgress {
        guard case .rekeyed(let progress) = try ask(.rekeyStep) else {
            throw BenchmarkError("the engine does not tell how far the renewal of keys has come")
        }
        return progress
    }

    /// For the title of a row: where the unlocked keys are, if not in the kernel's keyring.
    func keyPlaceRemark() throws -> String {
        guard case .lockStatus(let status) = try ask(.lockStatus) else {
            throw BenchmarkError("the engine does not tell of its lock")
        }
        return status.keyPlace == .keyring ? "" : ", keys in the process since the kernel refuses keyrings here"
    }
}
