import Foundation
import KeychainClient
import KeychainModel
import KeychainTestSupport
import SwiftKeychain
import Testing

/// The engine in this process, as it is reached from above: by the name of a C function.
@Suite struct EmbeddedHostTests {
    @Test("It opens a store with the reader that it is handed")
    func reader() throws {
        try withTemporaryDirectory { directory in
            let reader = FakeReader()
            reader.enroll(1)
            reader.touch(1)
            let engine = try Embedded.host.open(Self.location(in: directory), as: .embedded, biometry: reader)
            _ = try engine.verifyBiometry(for: .owner, Cancellation()) { _ in }
            #expect(reader.lookCount == 1)
        }
    }

    @Test("It opens a store with the device key that systemd hands over, and makes no other")
    func credential() throws {
        try withTemporaryDirectory { directory in
            let file = directory.appendingPathComponent("keychain.device-key")
            try Data(count: 32).write(to: file)
            chmod(file.path, 0o400)
            let location = Self.location(in: directory, credential: file)
            _ = try Embedded.host.open(location, as: .embedded, biometry: nil).handle(.status, from: .owner)
            #expect(FileManager.default.fileExists(atPath: location.storeDirectory.path))
            #expect(!FileManager.default.fileExists(atPath: location.deviceKeyDirectory.path))
        }
    }

    private static func location(in directory: URL, credential: URL? = nil) -> StoreLocation {
        StoreLocation(
            storeDirectory: directory.appendingPathComponent("store"),
            deviceKeyDirectory: directory.appendingPathComponent("device"), deviceKeyCredential: credential)
    }
}
