// Uses everything public of the module SwiftKeychain once. The keychain that the environment names gets a passcode, and loses it.

import Foundation
import Report
import SwiftKeychain

let passcode = Data("correct horse battery staple".utf8)
let newPasscode = Data("staple battery horse correct".utf8)

// Here Swift takes the blocking form of a plain call, and warns that nothing is awaited.
try await Keychain(service: "com.example.top").tasks.set("s3cret", for: "token")
try await Keychain(service: "com.example.top").tasks.removeAll()

await report {
    configuration()
    try withoutPasscode(KeychainLock())
    try await passcodes(KeychainLock(KeychainConfiguration()))
    try biometry()
    try values()
    try await valuesInTasks()
    try several()
    try await changesAreTold()
    try await views()
    try options()
    try await attributesInTasks()
    try managers()
    try await managersInTasks()
    names()
    patterns()
    try await closures()
    try items()
    try await itemsInTasks()
}

/// Where the engine runs, and what else a program may say about its keychain.
func configuration() {
    let socket = KeychainConfiguration.Host.socket(URL(filePath: "/run/keychain/socket"))
    let hosts: [KeychainConfiguration.Host] = [.embedded, .user, .system, socket]
    tell("There are four hosts", Set(hosts).count == 4)
    let environment = KeychainConfiguration.processDefault
    tell("A program says nothing by itself", environment == KeychainConfiguration())
    var server = KeychainConfiguration()
    server.host = .embedded
    server.storeDirectory = URL(filePath: "/var/lib/server/keychain")
    server.deviceKeyDirectory = URL(filePath: "/etc/server/keys")
    server.accessGroups = ["com.example.server"]
    KeychainConfiguration.processDefault = server
    tell("What it says is taken", KeychainConfiguration.processDefault == server)
    KeychainConfiguration.processDefault = environment
}

func withoutPasscode(_ lock: KeychainLock) throws {
    tell("A lock has three states", KeychainLock.State.allCases == [.neverUnlocked, .unlocked, .locked])
    try tell("A new keychain has no passcode", try !lock.hasPasscode)
    try tell("It is unlocked", try lock.state == .unlocked)
    do {
        try lock.lock()
        stop("a keychain without a passcode is locked")
    } catch {
        let error: KeychainError = error
        tell("It cannot be locked: \(error.message)", error.code == .noPasscode && error.cause == nil)
        tell("The error describes itself", error.description == "\(error.message) [-25260]")
        explained(error)
    }
}

func passcodes(_ lock: KeychainLock) async throws {
    var renewal: KeychainLock.RenewalProgress?
    try lock.setPasscode(passcode) { renewal = $0 }
    try tell("A passcode is set", try lock.hasPasscode)
    tell("All keys are made anew", renewal.map { $0.isFinished && $0.done == $0.total } == true)
    try lock.changePasscode(from: passcode, to: newPasscode, renewingKeys: true) { renewal = $0 }
    tell("Again with another one", renewal?.isFinished == true)

    var policy = KeychainLock.Policy(idleLimit: .seconds(600))
    policy.erasesAfterTenFailures = true
    policy.timeAfterLock = .seconds(60)
    try lock.setPolicy(policy, passcode: newPasscode)
    try tell("A policy holds in its first part", try lock.policy.idleLimit == .seconds(600))
    try tell("And in its second", try lock.policy.erasesAfterTenFailures)
    try tell("And in its third", try lock.policy.timeAfterLock == .seconds(60))

    var changes = lock.changes.makeAsyncIterator()
    try lock.lock(immediately: true)
    let locked = await changes.next()
    tell("The lock is told", locked == .locked)
    try lock.unlock(passcode: newPasscode) { renewal = $0 }
    let unlocked = await changes.next()
    tell("The unlock is told", unlocked == .unlocked)
    try lock.removePasscode(newPasscode)
    try tell("The passcode is gone", try !lock.hasPasscode)
}

/// A program's own reader. KeychainLocalAuthenticationCalls has it asked.
final class Camera: BiometryProvider {
    var kind: KeychainBiometry.Kind { .face }

    func enrolledSet() throws -> Data? { Data("ada".utf8) }

    func verify(_ attempt: BiometryAttempt) throws -> Bool {
        attempt.withCancellationHandler({}, { !attempt.isCancelled })
    }
}

func biometry() throws {
    tell("Readers know fingers or faces", KeychainBiometry.Kind.allCases == [.fingerprint, .face])
    tell("A program has no reader of its own by itself", KeychainBiometry.provider == nil)
    KeychainBiometry.provider = Camera()
    let camera = KeychainBiometry.provider
    try tell("It may bring one along", try camera?.kind == .face && camera?.enrolledSet() != nil)
}
