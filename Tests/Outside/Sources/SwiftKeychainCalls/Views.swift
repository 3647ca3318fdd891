import Foundation
import Report
import SwiftKeychain

/// The lines of this file compile only with a view: Swift allows no `await` in what is evaluated later.
func views() async throws {
    let keychain = Keychain(service: "com.example.views")
    let blocking: Keychain.BlockingView = keychain.blocking
    let tasks: Keychain.TaskView = keychain.tasks
    try await tasks.set("s3cret", for: "b")
    let first = try blocking.string(for: "a") ?? blocking.string(for: "b")
    tell("A value in the place of another one", first == "s3cret")
    let isThere = try await keychain.contains("b")
    try tell("Both are there", isThere && blocking.contains("b"))
    tell("A view has its keychain", blocking.keychain == keychain && tasks.keychain == keychain.keychain)
    try await tell("Both have the calls of theirs", number(blocking) + number(tasks), 2)
    try blocking.removeAll()
    try await optionalValues(keychain)
}

func number(_ calls: some KeychainBlockingCalls) throws -> Int { try calls.count() }

func number(_ calls: some KeychainTaskCalls) async throws -> Int { try await calls.count() }

/// Every form of `set` takes what may be nil.
func optionalValues(_ keychain: Keychain) async throws {
    let (text, data, bytes): (String?, Data?, [UInt8]?) = (nil, nil, nil)
    try await keychain.set("former", for: "k")
    try await keychain.set(text, for: "k")
    try await tell("nil removes", keychain.contains("k"), false)
    try keychain.blocking.set(data, for: "k")
    try keychain.blocking.set(bytes, for: "k")
    try keychain.blocking.set(nil, for: "k")
    let secret: Secret? = Secret(copying: Data("quiet".utf8))
    try keychain.blocking.set(secret, for: "k")
    try await keychain.set(secret, for: "l")
    try await tell("A secret that may be nil is stored", keychain.string(for: "l"), "quiet")

    let pair: [some KeychainSlice] = "ada:4711".split(separator: ":")
    try await keychain.set(pair.last, for: "pin")
    try keychain.blocking.transaction { changes in
        try changes.set(pair[0], for: "name")
        changes.set(Secret(copying: Data("x".utf8)), for: "secret")
        let none: Secret? = nil
        changes.set(none, for: "secret")
    }
    let count = try keychain.blocking.items(String.self).count
    try await tell("Parts of a text are texts", keychain.items(String.self).count, count)
    tell("All are there", count == 4)
    try keychain.blocking.set([UInt8](0...9)[3...4], for: "part")
    try await tell("And of bytes are bytes", keychain.value([UInt8].self, for: "part"), [3, 4])
    try await keychain.removeAll()
}

func options() throws {
    let keychain = Keychain()
    tell("A keychain has the program's name", keychain == Keychain(service: "SwiftKeychainCalls"))
    tell("An option makes another value", keychain.prefixed(by: "p") != keychain)
    let context = Keychain.Context()
    let other = keychain.synchronizable().coded(by: .propertyList).using(context).asking("to test").withoutAsking()
    tell("They chain", other.isSynchronizable && other.reason == "to test" && !other.mayAsk)
    tell("Codings are compared", other.coding == .propertyList && other.coding != .json)
    let password = try Keychain.generatePassword(length: 30)
    try keychain.set(password, for: "k", expires: .after(days: 1), label: "L", comment: "C")
    let found: Keychain.Attributes? = try keychain.attributes(for: "k")
    tell("A label and a comment are stored", found?.label == "L" && found?.comment == "C")
    tell("Dates too", found?.created == found?.modified && found?.expires != nil)
    tell("And how it is protected", found?.accessControl == .init(.whenUnlocked) && found?.accessGroup.isEmpty == false)
    try keychain.removeAll()
}

func attributesInTasks() async throws {
    let keychain = Keychain(service: "com.example.attributes")
    try await keychain.set("x", for: "k", label: "L")
    let found = try await keychain.attributes(for: "k")
    tell("A task reads attributes", found?.label == "L")
    try await keychain.removeAll()
}
