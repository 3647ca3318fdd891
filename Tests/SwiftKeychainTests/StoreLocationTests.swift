import Foundation
import KeychainModel
import KeychainTestSupport
import Testing

@testable import KeychainClient
@testable import KeychainSystem
@testable import SwiftKeychain

@Suite struct StoreLocationTests {
    private func location(
        _ variables: [String: String], _ configuration: KeychainConfiguration = KeychainConfiguration()
    ) throws -> (store: String, deviceKey: String) {
        let location = try StoreLocation(configuration, environment: Environment(variables: variables))
        return (location.storeDirectory.path, location.deviceKeyDirectory.path)
    }

    @Test("The store is where the environment says, the device key beside the program's other state")
    func places() throws {
        #expect(try location(["HOME": "/h"]) == ("/h/.local/share/keychain", "/h/.local/state/keychain"))
        #expect(
            try location(["HOME": "/h", "XDG_DATA_HOME": "/d", "XDG_STATE_HOME": "/s"])
                == ("/d/keychain", "/s/keychain"))
        #expect(
            try location(["HOME": "/h", "XDG_DATA_HOME": "/d", "KEYCHAIN_HOME": "/k"])
                == ("/k", "/h/.local/state/keychain"))
    }

    @Test("Relative XDG paths do not count, and a relative KEYCHAIN_HOME is an error")
    func relativePaths() throws {
        #expect(try location(["HOME": "/h", "XDG_DATA_HOME": "d"]).store == "/h/.local/share/keychain")
        #expect(throws: KeychainError.self) { try location(["HOME": "/h", "KEYCHAIN_HOME": "k"]) }
    }

    @Test("Code decides before the environment")
    func code() throws {
        var configuration = KeychainConfiguration()
        configuration.storeDirectory = URL(fileURLWithPath: "/c/store")
        configuration.deviceKeyDirectory = URL(fileURLWithPath: "/c/key")
        #expect(try location(["HOME": "/h", "KEYCHAIN_HOME": "/k"], configuration) == ("/c/store", "/c/key"))
    }

    @Test("A service's credential is its device key, unless the program names a directory for one")
    func credential() throws {
        try withTemporaryDirectory { directory in
            let variables = ["HOME": "/h", "CREDENTIALS_DIRECTORY": directory.path]
            func credential(_ configuration: KeychainConfiguration = KeychainConfiguration()) throws -> URL? {
                try StoreLocation(configuration, environment: Environment(variables: variables)).deviceKeyCredential
            }
            #expect(try credential() == nil)
            let file = directory.appendingPathComponent("keychain.device-key")
            try Data(count: 32).write(to: file)
            #expect(try credential()?.path == file.path)
            var configuration = KeychainConfiguration()
            configuration.deviceKeyDirectory = URL(fileURLWithPath: "/c/key")
            #expect(try credential(configuration) == nil)
        }
    }

    @Test("Without HOME the account's home directory is taken")
    func accountDatabase() throws {
        let home = try #require(AccountDatabase.homeDirectory)
        #expect(try location([:]).store == home + "/.local/share/keychain")
    }
}
