import KeychainSystem
import Synchronization
import Testing

/// A processor whose time goes on only where it is given to somebody.
private final class OwnTime: Sendable {
    private struct State {
        var now: UInt64 = 1
        var step: UInt64 = 1_000
        var steps = 0
    }
    private let state = Mutex(State())

    var now: UInt64 { state.withLock { $0.now } }
    var steps: Int { state.withLock { $0.steps } }
    /// What a thread takes that one gives way to, in nanoseconds.
    func giveWay(takes step: UInt64) { state.withLock { $0.step = step } }
    func pass(_ seconds: Double) { state.withLock { $0.now += UInt64(seconds * 1e9) } }

    var processor: AwakeWait.Processor {
        AwakeWait.Processor(
            now: { self.now },
            giveWay: {
                self.state.withLock {
                    $0.now += $0.step
                    $0.steps += 1
                }
            })
    }
}

@Suite("Waiting awake") struct AwakeWaitTests {
    private let time = OwnTime()
    private func wait() -> AwakeWait { AwakeWait(microseconds: 100, on: time.processor) }

    /// Waits for what never comes, until that is not done awake any more.
    ///
    /// - Returns: how often it was.
    private func exhaust(_ wait: inout AwakeWait) -> Int {
        for count in 0..<1_000 {
            let steps = time.steps
            #expect(!wait.wait { false })
            if time.steps == steps { return count }
        }
        return 1_000
    }

    @Test("What comes is noticed at the next step, and each step gives way")
    func comes() {
        var wait = wait()
        var questions = 0
        let isThere = wait.wait {
            questions += 1
            return questions > 5
        }
        #expect(isThere)
        #expect(time.steps == 5)
        #expect(wait.wait { true })
        #expect(time.steps == 5)
    }

    @Test("A wait has an end")
    func limit() {
        var wait = wait()
        let start = time.now
        #expect(!wait.wait { false })
        #expect(time.now - start == 100_000)
    }

    @Test("Five milliseconds in vain end it for a second, half as many then for two, and at most for 64")
    func vain() {
        var wait = wait()
        #expect(exhaust(&wait) == 51)
        for seconds in [1.0, 2, 4, 8, 16, 32, 64, 64] {
            time.pass(seconds - 0.01)
            #expect(exhaust(&wait) == 0, "\(seconds) s are not over")
            time.pass(0.02)
            #expect(exhaust(&wait) == 26, "\(seconds) s are over")
        }
    }

    @Test("Where it is worth it again, the next pause is a second")
    func worth() {
        var wait = wait()
        for _ in 0..<3 {
            _ = exhaust(&wait)
            time.pass(5)
        }
        for _ in 0..<125 { #expect(wait.wait { true }) }
        #expect(exhaust(&wait) == 51)
        time.pass(1.01)
        #expect(exhaust(&wait) == 26)
    }

    @Test("A thread that keeps the processor ends it, also if what was waited for is there then")
    func computing() {
        var wait = wait()
        time.giveWay(takes: 4_000_000)
        var answers = [false, true, false, true].makeIterator()
        #expect(wait.wait { answers.next()! })
        #expect(wait.wait { answers.next()! })
        #expect(exhaust(&wait) == 0)
    }

    @Test("What comes in time makes good what was lost")
    func credit() {
        var wait = wait()
        for _ in 0..<200 {
            #expect(!wait.wait { false })
            for _ in 0..<5 { #expect(wait.wait { true }) }
        }
        #expect(exhaust(&wait) > 0)
    }
}
