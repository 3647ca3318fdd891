import Dispatch
import Foundation
import KeychainClient
import KeychainModel
import KeychainSystem
import KeychainTestSupport
import SwiftKeychain
import Synchronization
import Testing

@Suite("Threads of calls for tasks", .timeLimit(.minutes(2))) struct BlockingCallsTests {
    private static let keychain = Keychain(service: "service")

    @Test("People who think keep no thread from other calls")
    func people() async throws {
        try await withKeychain { test in
            try test.setPasscode("1234")
            let bank = Self.keychain.protected(by: .init(.whenUnlocked, consent: .passcode))
            try await bank.set("4711", for: "pin")
            let readings = (0..<17).map { _ in
                test.prompter.answer(.late("1234"))
                return Task { try await bank.string(for: "pin") }
            }
            while test.prompter.questions.count < 17 { try await Task.sleep(for: .milliseconds(1)) }
            try await Self.keychain.set("x", for: "k")
            for reading in readings { reading.cancel() }
            for reading in readings { await #expect(throws: KeychainError.self) { try await reading.value } }
        }
    }

    /// Takes a place, until the gate opens.
    private func occupy(_ calls: BlockingCalls, until gate: DispatchSemaphore) async throws -> Task<Void, Never> {
        let begun = Count()
        let busy = Task {
            await calls.run {
                begun.add()
                gate.wait()
            }
        }
        while begun.value < 1 { try await Task.sleep(for: .milliseconds(1)) }
        return busy
    }

    @Test("A call that waits for a place ends at once when its task is cancelled, and does nothing")
    func cancelledInTheQueue() async throws {
        let calls = BlockingCalls(mostAtWork: 1)
        let (gate, done) = (DispatchSemaphore(value: 0), Count())
        let busy = try await occupy(calls, until: gate)
        let queued = Task {
            await calls.result(ifCancelled: KeychainError(.taskCancelled)) { () throws(KeychainError) in done.add() }
        }
        while calls.waitingCount < 1 { try await Task.sleep(for: .milliseconds(1)) }
        queued.cancel()
        let result = await queued.value
        #expect(throws: KeychainError(.taskCancelled)) { try result.get() }
        #expect(calls.waitingCount == 0)
        gate.signal()
        await busy.value
        await calls.run { done.add() }
        #expect(done.value == 1)
    }

    @Test("A call that must not be left undone keeps its place in the queue")
    func notCancelled() async throws {
        let calls = BlockingCalls(mostAtWork: 1)
        let (gate, done) = (DispatchSemaphore(value: 0), Count())
        let busy = try await occupy(calls, until: gate)
        let queued = Task { await calls.run { done.add() } }
        while calls.waitingCount < 1 { try await Task.sleep(for: .milliseconds(1)) }
        queued.cancel()
        gate.signal()
        await queued.value
        await busy.value
        #expect(done.value == 1)
    }

    @Test("No more calls are at work than there are places, and each gets its turn")
    func places() async {
        let calls = BlockingCalls(mostAtWork: 3)
        let (begun, atWork, most, done) = (Count(), Count(), Count(), Count())
        let (condition, isOpen) = (Condition(), Count())
        await withTaskGroup { group in
            for _ in 0..<200 {
                group.addTask {
                    begun.add()
                    await calls.run {
                        most.raise(to: atWork.next())
                        // None goes before all have come.
                        condition.withLock { while isOpen.value == 0 { condition.wait() } }
                        done.add()
                        atWork.add(-1)
                    }
                }
            }
            while begun.value < 200 || most.value < 3 { await Task.yield() }
            condition.withLock { isOpen.add() }
            condition.broadcast()
        }
        #expect(done.value == 200 && most.value == 3)
    }
}

private final class Count: Sendable {
    private let number = Atomic(0)
    var value: Int { number.load(ordering: .relaxed) }
    func add(_ count: Int = 1) { number.add(count, ordering: .relaxed) }
    func next() -> Int { number.add(1, ordering: .relaxed).newValue }
    func raise(to value: Int) { number.max(value, ordering: .relaxed) }
}
