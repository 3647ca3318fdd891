import Foundation
import KeychainModel
import KeychainSystem
import KeychainTestSupport
import Testing

@testable import KeychainTool

/// Stores of another version than the latest one that a program knows.
@Suite struct StoreVersionTests {
    private static let tooOld =
        "\(Tool.executable.resolvingSymlinksInPath().path) has release \(Release.version) of swift-keychain inside: update "
        + "that program, or build it anew with a newer release"

    @Test("A store of a future version is left as it is, with the path of the program that is too old")
    func future() throws {
        try withTool { tool throws in
            try tool.run("add", "mail", "--account", "me")
            try tool.edit("PRAGMA user_version = 3")
            let before = try Data(contentsOf: tool.database)
            for words in [
                ["get", "mail"], ["find"], ["add", "more", "--account", "me"], ["rm", "mail"], ["status"],
                ["doctor", "--json"], ["doctor", "--repair"],
            ] {
                let outcome = try tool.run(words: words, input: Data("any".utf8))
                #expect(outcome.status != 0)
                let findings = outcome.object["findings"] as? [[String: String]]
                // A table is folded at the width of a terminal.
                let lines = outcome.text.split { $0.isWhitespace }.joined(separator: " ")
                let said = findings?.first?["text"] ?? (outcome.errors + lines)
                #expect(said.contains("has version 3, and this program"), "\(words): \(outcome)")
                #expect(said.contains(Self.tooOld), "\(words): \(said)")
            }
            let error = #expect(throws: KeychainError.self) { try tool.asApp(["group"], .add()) }
            #expect(error?.message.contains(OwnProgram.isTooOld) == true)
            #expect(try Data(contentsOf: tool.database) == before)
            try tool.edit("PRAGMA user_version = 2")
            #expect(try tool.run("get", "mail").text == "any")
        }
    }

    @Test("A keybag of a future format is left as it is, with the path of the program that is too old")
    func futureKeybag() throws {
        try withTool { tool throws in
            try tool.run("add", "mail", "--account", "me")
            let keybag = tool.store.appendingPathComponent("keybag")
            var bytes = try Data(contentsOf: keybag)
            bytes[9] = 3
            let file = try FileHandle(forWritingTo: keybag)
            try file.write(contentsOf: bytes)
            try file.close()
            let outcome = try tool.run("get", "mail")
            #expect(outcome.status == 53)
            #expect(outcome.errors.contains("the keybag has format 3, and this program knows format 2"))
            #expect(outcome.errors.contains(Self.tooOld), "\(outcome.errors)")
            #expect(try Data(contentsOf: keybag) == bytes)
        }
    }

    private func status(_ version: Int, of known: Int, _ release: String) -> StoreStatus {
        StoreStatus(
            storePath: "/store", storeID: UUID(), schemaVersion: version, knownSchemaVersion: known,
            leastRelease: release, itemCounts: [:], bytesOnDisk: 0, deviceKey: .file("/key"), keyMemory: .locked,
            lock: LockStatus(
                state: .unlocked, hasPasscode: false, keyPlace: .process, isWatched: false, idleLimit: nil,
                erasesAfterTenFailures: false, failedAttempts: 0, secondsUntilNextAttempt: 0, isRekeying: false,
                epoch: 0))
    }

    @Test("The state tells which programs open the store, and in its short form whether the store waits at its version")
    func words() {
        let now = status(2, of: 2, "0.1")
        #expect(now.versionInWords == "2: programs with release 0.1 or later inside open it")
        #expect(!now.waits)
        let waiting = status(2, of: 3, "0.1")
        let words = "2 (3 is not needed yet): programs with release 0.1 or later inside open it"
        #expect(waiting.versionInWords == words)
        #expect(waiting.waits)
        #expect(status(2, of: 2, "").versionInWords == "2")
    }

    @Test("The state as JSON has the version, the latest one, and the first release that opens the store")
    func json() throws {
        try withTool { tool throws in
            try tool.run("add", "mail", "--account", "me")
            let status = try tool.run("status", "--json").object
            #expect(status["schemaVersion"] as? Int == 2 && status["knownSchemaVersion"] as? Int == 2)
            #expect(status["leastRelease"] as? String == "0.1")
            #expect(
                try tool.run("status", "--verbose").text.contains("programs with release 0.1 or later inside open it"))
        }
    }
}
