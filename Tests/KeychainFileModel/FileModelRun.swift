package import Foundation
package import KeychainTestSupport

/// Runs of the model, each with a file of its own, and the shortest sequence that shows a failure.
package struct FileModelRun {
    private let keychain: TestKeychain
    private let passcode: String
    private let directory: URL
    /// How often each thing was done.
    package private(set) var counts: [String: Int] = [:]

    /// - Parameter keychain: Unlocked, with a passcode.
    package init(_ keychain: TestKeychain, passcode: String, in directory: URL) {
        self.keychain = keychain
        self.passcode = passcode
        self.directory = directory
    }

    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Of each run.
    private static let length = 400

    /// Draws and does as many operations.
    ///
    /// - Parameter report: Told now and then how many were done.
    /// - Throws: `Failure`, with a short sequence that can be put into a test.
    package mutating func run(operations: Int, seed: UInt64, report: (Int) -> Void = { _ in }) throws {
        var number: UInt64 = 0
        var done = 0
        while done < operations {
            let runSeed = seed &+ number
            let chunkBits: UInt8 = number % 3 == 2 ? 14 : 12
            var source = OperationSource(seed: runSeed, chunkBits: chunkBits)
            let sequence = (0..<min(Self.length, operations - done)).map { _ in source.next() }
            do {
                try perform(sequence, chunkBits: chunkBits)
            } catch {
                throw failure(error, sequence, chunkBits, runSeed)
            }
            done += sequence.count
            number += 1
            report(done)
        }
    }

    /// Does these on a new file.
    package mutating func perform(_ operations: [FileOperation], chunkBits: UInt8) throws {
        let model = try FileModel(keychain, passcode: passcode, in: directory, chunkBits: chunkBits)
        let result = Result {
            for operation in operations { try model.perform(operation) }
            try model.finish()
        }
        counts.merge(model.counts) { $0 + $1 }
        try model.end()
        try result.get()
    }

    private mutating func failure(
        _ error: any Error, _ sequence: [FileOperation], _ chunkBits: UInt8, _ seed: UInt64
    ) -> Failure {
        let (shortest, last) = shortened(sequence, chunkBits)
        guard let last else {
            return Failure(description: "\(error)\nseed \(seed), chunks of 2^\(chunkBits); not seen again")
        }
        let lines = shortest.map { "        \($0),\n" }.joined()
        return Failure(
            description: """
                \(error)
                seed \(seed), chunks of 2^\(chunkBits); in short: \(last)
                    try replay(
                        [
                \(lines)        ], chunkBits: \(chunkBits))
                """)
    }

    /// Leaves out what is not needed for a failure, whatever failure it is, and then makes simpler what is left.
    private mutating func shortened(
        _ operations: [FileOperation], _ chunkBits: UInt8
    ) -> ([FileOperation], (any Error)?) {
        var shortest = operations
        var last: (any Error)?
        var attempts = 0
        func fails(_ sequence: [FileOperation]) -> Bool {
            attempts += 1
            do {
                try perform(sequence, chunkBits: chunkBits)
                return false
            } catch {
                last = error
                return true
            }
        }
        guard fails(shortest) else { return (shortest, nil) }
        var size = max(1, shortest.count / 2)
        while attempts < Self.mostAttempts {
            var start = 0
            var isShorter = false
            while start < shortest.count, attempts < Self.mostAttempts {
                var rest = shortest
                rest.removeSubrange(start..<min(start + size, rest.count))
                if fails(rest) {
                    shortest = rest
                    isShorter = true
                } else {
                    start += size
                }
            }
            if size == 1 && !isShorter { break }
            size = max(1, size / 2)
        }
        for index in shortest.indices {
            for simpler in shortest[index].simpler where attempts < 2 * Self.mostAttempts {
                var changed = shortest
                changed[index] = simpler
                if fails(changed) {
                    shortest = changed
                    break
                }
            }
        }
        return (shortest, last)
    }

    private static let mostAttempts = 1500
}
