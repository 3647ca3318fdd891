import Dispatch
import Foundation
import KeychainBus
import KeychainModel
import KeychainSystem
import KeychainWire
import Testing

@testable import KeychainDaemon

/// Users share a daemon first, and then the programs of each.
@Suite struct UserFairnessTests {
    /// A connection that has just begun, however long the test takes.
    private static var justBegun: Activity { Activity(frameBegan: Activity.now + 600 * 1_000_000_000) }

    private func table(_ connections: Int, further: Int = 0) -> ConnectionTable {
        var limits = Limits()
        (limits.connections, limits.furtherConnections) = (connections, further)
        return ConnectionTable(limits, isShared: true)
    }

    // MARK: Places for connections

    @Test("A user with half of all places has no more, and gives one of its own to a program of its that has fewer")
    func mostPlaces() throws {
        let table = table(8)
        let pairs = try (0..<7).map { _ in try SocketPair() }
        for number in 0..<4 { #expect(table.add(pairs[number].served, of: program(1), Self.justBegun) == nil) }
        #expect(table.add(pairs[4].served, of: program(1), Self.justBegun)?.reason == .tooManyConnections)
        #expect(table.add(pairs[4].served, of: program(2), Self.justBegun) == nil)
        #expect(try pairs[3].hasEnded && !pairs[2].hasEnded)
        #expect(table.add(pairs[5].served, of: program(1, of: 2), Self.justBegun) == nil)
        #expect(try !pairs[2].hasEnded)
    }

    @Test("When all places are taken, a user with many programs gives one back to a user that has fewer connections")
    func placesOfUsers() throws {
        let table = table(4)
        let pairs = try (0..<6).map { _ in try SocketPair() }
        // Two programs of each of two users.
        for number in 0..<4 {
            let process = program(Int32(number), of: number < 2 ? 1 : 2)
            #expect(table.add(pairs[number].served, of: process, Self.justBegun) == nil)
        }
        #expect(table.add(pairs[4].served, of: program(9, of: 1), Self.justBegun)?.reason == .tooManyConnections)
        #expect(table.add(pairs[4].served, of: program(9, of: 3), Self.justBegun) == nil)
        #expect(try pairs.indices.filter { try pairs[$0].hasEnded } == [3])
        // Now the first user has most, but not two more than the second one would have.
        #expect(table.add(pairs[5].served, of: program(10, of: 2), Self.justBegun)?.reason == .tooManyConnections)
    }

    @Test("A user whose programs have one connection each takes the place of no other user's")
    func manyPrograms() throws {
        let table = table(6)
        let pairs = try (0..<8).map { _ in try SocketPair() }
        for number in 0..<3 {
            #expect(table.add(pairs[number].served, of: program(Int32(number), of: 1), Self.justBegun) == nil)
        }
        for number in 3..<6 { #expect(table.add(pairs[number].served, of: program(50, of: 2), Self.justBegun) == nil) }
        // User 1 is at its limit, so it asks for nothing of user 2, whose one program has three.
        #expect(table.add(pairs[6].served, of: program(6, of: 1), Self.justBegun)?.reason == .tooManyConnections)
        #expect(table.add(pairs[7].served, of: program(7, of: 3), Self.justBegun) == nil)
        let ended = try pairs.indices.filter { try pairs[$0].hasEnded }
        #expect(ended.count == 1)
    }

    @Test("Connections that are about to end count as their user's: others' connections alone make it more of them")
    func endingPlaces() throws {
        let table = table(4)
        let pairs = try (0..<4).map { _ in try SocketPair() }
        for number in 0..<2 { #expect(table.add(pairs[number].served, of: program(1), Self.justBegun) == nil) }
        #expect(table.add(pairs[2].served, of: program(2), Self.justBegun) == nil)
        #expect(try pairs[1].hasEnded, "the user gave one of its own")
        #expect(table.add(pairs[3].served, of: program(1), Self.justBegun)?.reason == .tooManyConnections)
    }

    @Test("A person is asked one thing of a kind at a time, and a user's daemon asks as often as it is told to")
    func people() {
        let people = PeopleAsked(isShared: true)
        #expect(people.begin(.consent, 1) && people.begin(.finger, 1) && people.begin(.consent, 2))
        #expect(!people.begin(.consent, 1))
        people.end(.consent, 1)
        #expect(people.begin(.consent, 1))
        for user in 0..<100 as Range<uid_t> { _ = people.begin(.finger, 100 + user) }
        #expect(!people.begin(.finger, 1_000), "they hold connections to the bus")
        let own = PeopleAsked(isShared: false)
        #expect(own.begin(.finger, 1) && own.begin(.finger, 1))
    }

    @Test("Programs of a user that the daemon can tell apart have places of their own for short work")
    func lanes() {
        let shared = WorkGate(Limits(), isShared: true)
        #expect(shared.lanes(of: 1, ["a"]) === shared.lanes(of: 1, ["a"]))
        #expect(shared.lanes(of: 1, ["a"]) !== shared.lanes(of: 1, ["b"]))
        #expect(shared.lanes(of: 1, ["a"]) !== shared.lanes(of: 2, ["a"]))
        let own = WorkGate(Limits(), isShared: false)
        #expect(own.lanes(of: 1, ["a"]) === own.lanes(of: 1, ["b"]))
        #expect(Limits.ofSystem.readsAtOnce < Limits().readsAtOnce)
    }

    // MARK: Turns

    @Test("Users take turns for work that takes long, however many programs each has")
    func turns() throws {
        let places = FairPlaces(1, isShared: true)
        let order = Observed<[uid_t]>([])
        let (isHeld, mayGo, group) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchGroup())
        func work(_ process: ClientProcess, waits: Bool = false) {
            group.enter()
            Thread.detachNewThread {
                places.hold(for: process) {
                    order.update { $0.append(process.user) }
                    if waits {
                        isHeld.signal()
                        mayGo.wait()
                    }
                }
                group.leave()
            }
        }
        work(program(1, of: 1), waits: true)
        isHeld.wait()
        for count in 1...5 {
            work(program(Int32(count + 1), of: 1))
            while places.waitingCount < count { sched_yield() }
        }
        work(program(100, of: 2))
        while places.waitingCount < 6 { sched_yield() }
        mayGo.signal()
        group.wait()
        #expect(order.value == [1, 2, 1, 1, 1, 1, 1])
    }

    @Test("No user has all places, while there are several")
    func share() throws {
        let places = FairPlaces(3, isShared: true)
        let held = Observed(0)
        let (mayGo, group) = (DispatchSemaphore(value: 0), DispatchGroup())
        for pid in 0..<4 {
            group.enter()
            Thread.detachNewThread {
                places.hold(for: program(Int32(pid))) {
                    held.update { $0 += 1 }
                    mayGo.wait()
                }
                group.leave()
            }
        }
        while held.value + places.waitingCount < 4 { sched_yield() }
        #expect(held.value == 2)
        if held.value == 2 { #expect(places.hold(for: program(9, of: 2)) { true }) }
        for _ in 0..<4 { mayGo.signal() }
        group.wait()
    }

    // MARK: Memory

    /// A hundred bytes for a user, ten more for transfers of as many, and twice as much for all.
    private func budget(memoryTime: Duration = .seconds(60)) -> MemoryBudget {
        var limits = Limits()
        (limits.transferBytes, limits.smallTransferBytes, limits.bytesForSmallTransfers) = (100, 10, 10)
        (limits.usersOfAllMemory, limits.memoryTime) = (2, memoryTime)
        return MemoryBudget(limits, isShared: true)
    }

    @Test("A user that has all its memory takes none from another")
    func memoryOfUsers() throws {
        let budget = budget(memoryTime: .milliseconds(50))
        let pair = try SocketPair()
        let large = try #require(budget.take(100, nil, over: pair.served, of: 1))
        let small = try #require(budget.take(10, nil, over: pair.served, of: 1))
        #expect(budget.take(11, nil, over: pair.served, of: 1) == nil)
        #expect(budget.take(100, nil, over: pair.served, of: 2) != nil)
        withExtendedLifetime((large, small)) {}
    }

    @Test("When all users have too much together, one with more than its part loses a transfer, however fast")
    func memoryOfAll() throws {
        let budget = budget()
        let pairs = try (0..<4).map { _ in try SocketPair() }
        // Three users have a third each: 73 bytes. The first has more.
        let first = Observed(budget.take(100, .receiving, over: pairs[0].served, of: 1))
        let others = try [(1, 60), (2, 10)].map { number, count in
            try #require(budget.take(count, .receiving, over: pairs[number].served, of: 2))
        }
        for transfer in [first.value].compactMap(\.self) + others { transfer.note(1 << 40) }
        let served = pairs[0].served
        DispatchQueue.global().async {
            var byte: UInt8 = 0
            while recv(served.number, &byte, 1, 0) > 0 {}
            first.update { $0 = nil }
        }
        #expect(budget.take(70, .receiving, over: pairs[3].served, of: 3) != nil)
        #expect(!others.contains { $0.wasCutOff })
        #expect(try !pairs[1].hasEnded && !pairs[2].hasEnded)
    }
}
