import Foundation
import KeychainModel
import Testing

@testable import KeychainDaemon

@Suite struct LimitTests {
    @Test("A burst passes at once, and what comes after it at the rate")
    func burst() {
        let start = SuspendingClock.now
        var rate = RateLimit(perSecond: 100, burst: 5, now: start)
        for _ in 0..<5 { #expect(rate.take(at: start) == nil) }
        #expect(rate.take(at: start) == .milliseconds(10))
        // Who waits as told has to wait as long for the next one.
        #expect(rate.take(at: start + .milliseconds(10)) == .milliseconds(10))
    }

    @Test("A pause gives a burst back, and no more than one")
    func pause() {
        let start = SuspendingClock.now
        var rate = RateLimit(perSecond: 100, burst: 5, now: start)
        for _ in 0..<5 { _ = rate.take(at: start) }
        let later = start + .seconds(3600)
        for _ in 0..<5 { #expect(rate.take(at: later) == nil) }
        #expect(rate.take(at: later) != nil)
    }

    @Test("Who comes slower than the rate never waits")
    func slow() {
        let start = SuspendingClock.now
        var rate = RateLimit(perSecond: 100, burst: 1, now: start)
        for index in 0..<50 { #expect(rate.take(at: start + .milliseconds(11 * index)) == nil) }
    }

    @Test("A connection that asks faster than the rate is served at the rate")
    func servedRate() throws {
        var limits = Limits()
        (limits.requestsPerSecond, limits.burst) = (100, 1)
        try withServer(FakeEngine(), limits: limits) { server throws in
            let client = try server.connect()
            let start = SuspendingClock.now
            for _ in 0..<21 { try client.ask(.rekeyStep) }
            #expect(start.duration(to: .now) > .milliseconds(180))
        }
    }

    @Test("Memory is given out up to the limit, and waited for")
    func budget() throws {
        let budget = MemoryBudget(100)
        #expect(budget.take(101, within: .seconds(60)) == nil, "there can never be so much")
        var shares = [try #require(budget.take(60, within: .zero)), try #require(budget.take(40, within: .zero))]
        #expect(budget.take(1, within: .milliseconds(20)) == nil)
        shares.removeFirst()
        #expect(budget.take(60, within: .zero) != nil)
        #expect(shares.count == 1)
    }

    @Test("What goes through many rows does not keep single searches waiting")
    func work() {
        var query = ItemQuery(.genericPassword)
        #expect(WorkGate.Work(.find(FindRequest(query, wantsSecrets: true)), byteCount: 100) == .read)
        query.limit = .all
        #expect(WorkGate.Work(.find(FindRequest(query, wantsSecrets: false)), byteCount: 100) == .large)
        #expect(WorkGate.Work(.add(AddRequest(.key)), byteCount: 100) == .write)
        #expect(WorkGate.Work(.add(AddRequest(.key)), byteCount: 2 << 20) == .large)
        #expect(WorkGate.Work(.lock(.now), byteCount: 100) == .immediate)
    }

    @Test("Fewer descriptors mean fewer connections, but always one")
    func descriptors() {
        var limits = Limits()
        limits.fit(descriptors: limits.descriptors)
        #expect(limits.connections == Limits().connections)
        limits.fit(descriptors: 1024)
        #expect(limits.connections == 256)
        limits.fit(descriptors: 10)
        #expect(limits.connections == 1)
    }
}
