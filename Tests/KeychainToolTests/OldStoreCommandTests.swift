import Foundation
import KeychainTestSupport
import Testing

/// Stores that a killed program left, by the command as it is released: with the cost of a passcode that every store has.
@Suite(.serialized, .enabled(if: Tool.sharesKeys)) struct OldStoreCommandTests {
    @Test(
        "A store that was killed in the midst of a renewal of keys, or of a write, opens, goes on with it and is sound",
        arguments: ["killed-released", "renewal-released"])
    func opens(_ name: String) throws {
        try withTool { (tool) throws in
            defer { tool.dropKeys() }
            let fixture = Repository.file("Tests/Fixtures/store-v2").appendingPathComponent(name)
            let manifest = try FixtureManifest(contentsOf: fixture.appendingPathComponent(FixtureManifest.fileName))
            for (part, place) in [("store", tool.store), ("device", tool.deviceKey)] {
                try FileManager.default.createDirectory(
                    at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
                try FileManager.default.copyItem(at: fixture.appendingPathComponent(part), to: place)
                // A clone has not the modes that a store must have.
                let change = "chmod 700 '\(place.path)' && find '\(place.path)' -type f -exec chmod 600 {} +"
                #expect(try tool.shell(change).status == 0)
            }
            let passcode = try #require(manifest.passcode)
            #expect(try tool.unlock(passcode).status == 0)
            #expect(try tool.lockStatus["rekeying"] as? Bool == false)
            let doctor = try tool.run("doctor")
            #expect(doctor.status == 0, "\(doctor.text)")
            for item in manifest.items {
                let outcome = try tool.run("get", "--reference", item.reference.base64EncodedString())
                #expect(item.secret == nil || outcome.output == item.secret, "\(outcome.errors)")
            }
            #expect(try tool.run("add", "new", "--account", "me").status == 0)
            #expect(try tool.run("get", "new").text == "any")
        }
    }
}
