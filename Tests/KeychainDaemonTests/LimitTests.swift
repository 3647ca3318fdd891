import Dispatch
import Foundation
import Glibc
import KeychainBus
import KeychainModel
import KeychainSystem
import KeychainTestSupport
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
        let budget = MemoryBudget(small)
        let pair = try SocketPair()
        func take(_ count: Int) -> MemoryBudget.Share? { budget.take(count, .receiving, over: pair.served, of: 1) }
        #expect(take(101) != nil, "what is too much is alone")
        var shares = [try #require(take(60)), try #require(take(40))]
        for share in shares { share.pause() }
        #expect(take(11) == nil)
        #expect(take(10) != nil, "a part is kept for small ones")
        shares.removeFirst()
        #expect(take(60) != nil)
        #expect(shares.count == 1)
        #expect(try !pair.hasEnded)
    }

    /// A hundred bytes, and ten more for transfers of as many.
    private var small: Limits {
        var limits = Limits()
        (limits.transferBytes, limits.smallTransferBytes, limits.bytesForSmallTransfers) = (100, 10, 10)
        limits.memoryTime = .milliseconds(300)
        return limits
    }

    @Test("When memory is short, the transfer that moves slowest is cut off, and no other")
    func slowest() throws {
        var limits = small
        limits.memoryTime = .seconds(60)
        let budget = MemoryBudget(limits)
        let pairs = try (0..<4).map { _ in try SocketPair() }
        let idle = Observed(budget.take(30, .receiving, over: pairs[0].served, of: 1))
        let moving = try #require(budget.take(30, .receiving, over: pairs[1].served, of: 1))
        let working = try #require(budget.take(30, .receiving, over: pairs[2].served, of: 1))
        moving.note(1 << 30)
        working.pause()
        // What is cut off gives its part back, as its thread does.
        let served = pairs[0].served
        DispatchQueue.global().async {
            var byte: UInt8 = 0
            while recv(served.number, &byte, 1, 0) > 0 {}
            idle.update { $0 = nil }
        }
        #expect(budget.take(40, .receiving, over: pairs[3].served, of: 1) != nil)
        #expect(!moving.wasCutOff && !working.wasCutOff)
        #expect(try !pairs[1].hasEnded && !pairs[2].hasEnded)
    }

    @Test("A transfer that waits for the daemon, and not for its client, is not cut off")
    func ownDelay() throws {
        let budget = MemoryBudget(small)
        let pairs = try (0..<4).map { _ in try SocketPair() }
        let received = try #require(budget.take(30, .receiving, over: pairs[0].served, of: 1))
        #expect(send(pairs[0].client.number, [1], 1, 0) == 1)
        let sent = try #require(budget.take(30, .sending, over: pairs[1].served, of: 1))
        let isOver = try #require(budget.take(30, .sending, over: pairs[2].served, of: 1))
        isOver.note(30)
        while send(pairs[2].served.number, [1], 1, Int32(MSG_DONTWAIT)) == 1 {}
        #expect(budget.take(40, .receiving, over: pairs[3].served, of: 1) == nil)
        for share in [received, sent, isOver] { #expect(!share.wasCutOff) }
        // Now the client of the second one does not read.
        while send(pairs[1].served.number, [1], 1, Int32(MSG_DONTWAIT)) == 1 {}
        #expect(budget.take(40, .receiving, over: pairs[3].served, of: 1) == nil)
        #expect(sent.wasCutOff && !received.wasCutOff && !isOver.wasCutOff)
    }

    @Test("Small transfers do not cut off a large one that is alone, and a fast one is never cut off")
    func alone() throws {
        let budget = MemoryBudget(small)
        let pairs = try (0..<3).map { _ in try SocketPair() }
        let large = try #require(budget.take(500, .sending, over: pairs[0].served, of: 1))
        Thread.sleep(forTimeInterval: 0.15)
        #expect(budget.take(10, .receiving, over: pairs[1].served, of: 1) != nil)
        #expect(!large.wasCutOff)
        large.note(1 << 30)
        #expect(budget.take(50, .receiving, over: pairs[2].served, of: 1) == nil)
        #expect(!large.wasCutOff)
    }

    @Test("What a share gives back of itself is there for others, and who has one waits for no more")
    func shrink() throws {
        let budget = MemoryBudget(small)
        let pair = try SocketPair()
        let share = try #require(budget.take(100, nil, over: pair.served, of: 1))
        #expect(budget.take(60, .receiving, over: pair.served, of: 1) == nil)
        share.shrink(to: 40)
        #expect(budget.takenBytes == 40)
        #expect(budget.take(60, .receiving, over: pair.served, of: 1) != nil)
        share.shrink(to: 90)
        #expect(budget.takenBytes == 40, "it never grows")
        #expect(try !pair.hasEnded)
    }

    @Test("Who has memory and needs more has all there is, if nobody else has any")
    func besides() throws {
        let budget = MemoryBudget(small)
        let pair = try SocketPair()
        let own = try #require(budget.take(60, nil, over: pair.served, of: 1))
        #expect(budget.take(500, nil, over: pair.served, of: 1, besides: own) != nil)
        let other = try #require(budget.take(30, nil, over: pair.served, of: 1))
        #expect(budget.take(500, nil, over: pair.served, of: 1, besides: own) == nil)
        withExtendedLifetime(other) {}
    }

    @Test("Of the processes that wait for a place the one that has had places for the shortest time is next")
    func turns() throws {
        let places = FairPlaces(1)
        let order = Observed<[Int32]>([])
        let isHeld = DispatchSemaphore(value: 0)
        let mayGo = DispatchSemaphore(value: 0)
        let group = DispatchGroup()
        func work(_ process: Int32, waits: Bool = false) {
            group.enter()
            Thread.detachNewThread {
                places.hold(for: program(process)) {
                    order.update { $0.append(process) }
                    if waits {
                        isHeld.signal()
                        mayGo.wait()
                    }
                }
                group.leave()
            }
        }
        work(1, waits: true)
        isHeld.wait()
        // Many of one process, and then another's.
        for count in 1...5 {
            work(1)
            while places.waitingCount < count { sched_yield() }
        }
        work(2)
        while places.waitingCount < 6 { sched_yield() }
        mayGo.signal()
        group.wait()
        #expect(order.value == [1, 2, 1, 1, 1, 1, 1])
    }

    @Test("Of newcomers the one that asks for the fewest is next")
    func newcomers() throws {
        let places = FairPlaces(1)
        let order = Observed<[Int32]>([])
        let isHeld = DispatchSemaphore(value: 0)
        let mayGo = DispatchSemaphore(value: 0)
        let group = DispatchGroup()
        func work(_ process: Int32, _ body: @escaping @Sendable () -> Void) {
            group.enter()
            Thread.detachNewThread {
                places.hold(for: program(process), body)
                group.leave()
            }
        }
        work(1) {
            isHeld.signal()
            mayGo.wait()
        }
        isHeld.wait()
        for (count, process) in [Int32(2), 2, 3, 3, 4].enumerated() {
            work(process) { order.update { $0.append(process) } }
            while places.waitingCount <= count { sched_yield() }
        }
        mayGo.signal()
        group.wait()
        #expect(order.value.first == 4)
        #expect(order.value.count == 5)
    }

    @Test("No process has all places, while there are several")
    func share() throws {
        let places = FairPlaces(3)
        let held = Observed(0)
        let mayGo = DispatchSemaphore(value: 0)
        let group = DispatchGroup()
        for _ in 0..<4 {
            group.enter()
            Thread.detachNewThread {
                places.hold(for: program(1)) {
                    held.update { $0 += 1 }
                    mayGo.wait()
                }
                group.leave()
            }
        }
        while held.value + places.waitingCount < 4 { sched_yield() }
        #expect(held.value == 2)
        if held.value == 2 { #expect(places.hold(for: program(2)) { true }) }
        for _ in 0..<4 { mayGo.signal() }
        group.wait()
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

    @Test("The place for passcodes is not held by what takes as long as a store is large")
    func passcodes() {
        func work(_ request: Request) -> WorkGate.Work {
            let proof = AuthenticationProof(passcode: .of("1234"))
            return WorkGate.Work(.authenticated(proof, request), byteCount: 100)
        }
        for request in [.compact, .check, .rekeyStep, .passcode(.remove(old: .of("1")))] as [Request] {
            #expect(work(request) == .large)
        }
        #expect(work(.find) == .passcode && work(.status) == .passcode)
        #expect(WorkGate.Work(.unlock(.of("1")), byteCount: 10) == .passcode)
        #expect(WorkGate.Work(.passcode(.set(.of("1"))), byteCount: 10) == .large)
    }

    @Test("There are descriptors for all connections there can be at a time, also those that are about to end")
    func descriptorsOfAll() {
        let limits = Limits()
        let most = limits.connections + limits.furtherConnections + limits.endingConnections
        // A socket, a process and an event each; and files of the store.
        #expect(limits.descriptors >= 3 * most + 100)
    }

    @Test("Fewer descriptors mean fewer connections, but always one")
    func descriptors() {
        var limits = Limits()
        limits.fit(descriptors: limits.descriptors)
        #expect(limits.connections == Limits().connections)
        limits.fit(descriptors: 1024)
        #expect(limits.connections == 160)
        limits.fit(descriptors: 10)
        #expect(limits.connections == 1)
    }
}
