import Foundation
import KeychainModel
import KeychainSystem
import Testing

@Suite("Threads and conditions") struct ThreadTests {
    /// What a condition guards.
    private final class Guarded: @unchecked Sendable {
        let condition = Condition()
        var count = 0

        func wait(for count: Int) {
            condition.withLock { while self.count < count { condition.wait() } }
        }

        /// - Returns: false if the time was over before.
        func wait(for count: Int, until end: ContinuousClock.Instant) -> Bool {
            condition.withLock {
                while self.count < count {
                    if !condition.wait(until: end) { return self.count >= count }
                }
                return true
            }
        }

        func countUp() {
            condition.withLock { count += 1 }
            condition.broadcast()
        }
    }

    @Test("A broadcast wakes every thread that waits, and a wait gives the lock up")
    func broadcast() throws {
        let (start, arrived) = (Guarded(), Guarded())
        for _ in 0..<3 {
            try WorkerThread.start("test") {
                start.wait(for: 1)
                arrived.countUp()
            }
        }
        start.countUp()
        arrived.wait(for: 3)
        #expect(arrived.count == 3)
    }

    @Test("A wait ends at its time, at once if that has passed, and a time of any distance is one")
    func times() throws {
        let never = Guarded()
        #expect(!never.wait(for: 1, until: .now - .seconds(5)))
        #expect(!never.wait(for: 1, until: .now + .milliseconds(1)))
        let soon = Guarded()
        try WorkerThread.start("test") { soon.countUp() }
        #expect(soon.wait(for: 1, until: .now + .seconds(Int64.max / 4)))
    }

    @Test("A lock that another thread has is not taken by an attempt")
    func attempt() throws {
        let guarded = Guarded()
        let isTaken = guarded.condition.withLock {
            let answer = Guarded()
            nonisolated(unsafe) var isTaken = true
            do {
                try WorkerThread.start("test") {
                    isTaken = !guarded.condition.tryLock()
                    answer.countUp()
                }
                answer.wait(for: 1)
            } catch {
                Issue.record(error)
            }
            return isTaken
        }
        #expect(isTaken)
        #expect(guarded.condition.tryLock())
        guarded.condition.unlock()
    }

    @Test("Each thread has its own object")
    func ofEachThread() throws {
        final class Named: Sendable {
            let name: String
            init(_ name: String) { self.name = name }
        }
        let local = ThreadLocal<Named>()
        let (own, others) = (Named("own"), Guarded())
        local.value = own
        try WorkerThread.start("test") {
            if local.value == nil { others.countUp() }
            let other = Named("other")
            local.value = other
            if local.value === other { others.countUp() }
            local.value = nil
            if local.value == nil { others.countUp() }
        }
        others.wait(for: 3)
        #expect(local.value === own)
        local.value = nil
    }

    @Test(
        "A program's code has its signals on a thread of ours, and our own code none",
        arguments: [true, false])
    func signals(isOfProgram: Bool) throws {
        /// The signals that this thread does not take.
        @Sendable func blocked() -> String? {
            let status = try? String(contentsOfFile: "/proc/thread-self/status", encoding: .utf8)
            return status?.split(separator: "\n").first { $0.hasPrefix("SigBlk:") }.map { String($0.suffix(16)) }
        }
        let (own, done) = (try #require(blocked()), Guarded())
        nonisolated(unsafe) var found: String?
        let body = { @Sendable in
            found = blocked()
            done.countUp()
        }
        if isOfProgram { try WorkerThread.startForProgram("test", body) } else { try WorkerThread.start("test", body) }
        done.wait(for: 1)
        // All but SIGKILL, SIGSTOP and the C library's own two.
        #expect(found == (isOfProgram ? own : "fffffffe7ffbfeff"))
    }

    @Test("A thread that the system refuses is an error, and its work is given up")
    func refused() {
        final class Witness: Sendable {}
        weak var left: Witness?
        do {
            let witness = Witness()
            left = witness
            #expect {
                try WorkerThread.start("test", stackBytes: 1 << 60) { _ = witness }
            } throws: {
                ($0 as? KeychainError)?.code == .allocation
            }
        }
        #expect(left == nil)
    }
}
