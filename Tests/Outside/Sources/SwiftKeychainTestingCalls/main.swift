// Uses everything public of the module SwiftKeychainTesting once.

import Foundation
import Report
import SwiftKeychain
import SwiftKeychainTesting

await report {
    let test = try TestKeychain(accessGroups: ["app"], passcode: "1234")
    let bank = test.keychain(service: "bank").protected(by: .init(.whenUnlocked, consent: .passcode))
    try await bank.set("4711", for: "pin")
    test.person.types("1234")
    let pin = try await bank.string(for: "pin")
    tell("The person types", pin == "4711")
    test.person.declines()
    let declined = try? await bank.string(for: "pin")
    tell("Or declines", declined == nil)
    tell(
        "What was asked is told",
        test.person.questions.map(\.wanted) == [.passcode, .passcode] && test.person.questions[0].reason == nil)
    test.person.hesitates()
    let reading = Task { try await bank.string(for: "pin") }
    while test.person.questions.count < 3 { await Task.yield() }
    reading.cancel()
    let result = await reading.result
    tell("Or says nothing", (try? result.get()) == nil)

    test.person.enrolledFingers = ["thumb"]
    test.person.touches(with: "thumb")
    let door = test.use(Keychain(service: "door").protected(by: .init(.whenUnlocked, consent: .biometry)))
    try await door.set("open", for: "key")
    let key = try await door.string(for: "key")
    tell("Or touches the reader", key == "open")

    try test.lock.lock()
    try tell("The keychain is locked", try test.lock.state == .locked)
    test.restartSystem()
    try tell("Or new", try test.lock.state == .neverUnlocked)
    try test.lock.unlock(passcode: Data("1234".utf8))
    let clock: TestTime = test.clock
    let before = clock.date
    clock.advance(by: .seconds(60))
    tell("Time passes", clock.date == before + 60)
    let other = test.asProgram(accessGroups: ["other"], Keychain(service: "bank"))
    let isThere = try await other.contains("none")
    tell("Another program has items of its own", !isThere)
    let identities = try await test.items.find(Keychain.Identity.self)
    tell("Items of all classes are there", identities.isEmpty)
    let wanted: [TestPerson.Question.Wanted] = [.passcode, .applicationPassword, .newApplicationPassword, .biometry]
    tell("Four things can be wanted", Set(wanted).count == 4)
}

func inClosures() throws {
    try withTestKeychain(accessGroups: ["app"]) { _ in try Keychain(service: "s").set("x", for: "k") }
    try tell("What a closure does is in its own keychain", try Keychain(service: "s").count() == 0)
}

func inAsynchronousClosures() async throws {
    try await withTestKeychain(passcode: "1234") { _ in try await Keychain(service: "s").set("x", for: "k") }
}

await report {
    try inClosures()
    try await inAsynchronousClosures()
}
