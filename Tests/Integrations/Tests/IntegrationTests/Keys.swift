import Foundation
import KeychainSecurity
import Testing

/// The keys that the tests are about. The keychain is the one that Scripts/check-integrations names.
enum TestKey: String, CaseIterable, CustomTestStringConvertible {
    case rsa = "RSA of 2,048 bits"
    case p256 = "P-256"
    case p384 = "P-384"
    case p521 = "P-521"
    case engine = "P-256 in the engine"

    var testDescription: String { rawValue }

    /// A new key. One in the engine is an item of the keychain, under a tag of its own.
    func make(tag: String = UUID().uuidString) throws -> SecKey {
        var parameters: [String: Any] =
            switch self {
            case .rsa: [kSecAttrKeyType as String: kSecAttrKeyTypeRSA, kSecAttrKeySizeInBits as String: 2048]
            case .p256, .engine: Self.curve(256)
            case .p384: Self.curve(384)
            case .p521: Self.curve(521)
            }
        if self == .engine {
            parameters[kSecAttrTokenID as String] = kSecAttrTokenIDSecureEnclave
            parameters[kSecAttrApplicationTag as String] = Data(tag.utf8)
        }
        var failure: Unmanaged<CFError>?
        guard let key = SecKeyCreateRandomKey(parameters as CFDictionary, &failure) else {
            throw try #require(failure).takeRetainedValue()
        }
        return key
    }

    private static func curve(_ bitCount: Int) -> [String: Any] {
        [kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits as String: bitCount]
    }

    /// Deletes the key in the engine that has the tag.
    static func delete(tag: String) -> OSStatus {
        SecItemDelete([kSecClass: kSecClassKey, kSecAttrApplicationTag: Data(tag.utf8)] as CFDictionary)
    }
}

/// The code of an error of the functions for keys.
func status(of error: any Error) -> OSStatus? {
    let error = error as NSError
    return error.domain == NSOSStatusErrorDomain ? OSStatus(error.code) : nil
}

/// Runs what blocks on a thread of its own, so that other tests go on.
func onThread<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
}

/// A directory that is removed with the object.
final class Place {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: url) }

    func file(_ name: String, _ content: String) throws -> String {
        let file = url.appendingPathComponent(name)
        try Data(content.utf8).write(to: file)
        return file.path
    }
}

/// Another implementation, which has to agree.
struct OpenSSL {
    let status: Int32
    let output: String

    init(_ arguments: String...) async throws { try await self.init(arguments) }

    init(_ arguments: [String]) async throws { self = try await onThread { try OpenSSL(running: arguments) } }

    private init(running arguments: [String]) throws { self = try OpenSSL.start(arguments).result() }

    private init(status: Int32, output: String) { (self.status, self.output) = (status, output) }

    /// One that has not ended yet.
    struct Running {
        let process: Process
        fileprivate let pipe: Pipe

        /// Blocks until it ends.
        func result() -> OpenSSL {
            let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            return OpenSSL(status: process.terminationStatus, output: output)
        }
    }

    static func start(_ arguments: [String]) throws -> Running {
        let running = Running(process: Process(), pipe: Pipe())
        running.process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        running.process.arguments = ["openssl"] + arguments
        running.process.standardInput = FileHandle.nullDevice
        running.process.standardOutput = running.pipe
        running.process.standardError = running.pipe
        try running.process.run()
        return running
    }
}
