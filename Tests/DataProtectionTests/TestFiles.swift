import DataProtection
import DataProtectionCore
import Foundation
import KeychainClient
import KeychainEngine
import KeychainModel
import KeychainSystem
import KeychainTestSupport
import SwiftKeychain

/// Runs `body` with files under a keychain of their own, and a directory for them.
func withProtectedFiles<R>(
    on host: KeychainHost = .embedded, files: any FileSystem = SystemFiles(),
    _ body: (ProtectedFiles, URL) throws -> R
) throws -> R {
    try withProtectedFiles(on: host, files: files) { made, directory, _ in try body(made, directory) }
}

func withProtectedFiles<R>(
    on host: KeychainHost = .embedded, files: any FileSystem = SystemFiles(),
    _ body: (ProtectedFiles, URL, TestKeychain) throws -> R
) throws -> R {
    try withKeychain(host) { keychain throws in
        let directory = keychain.directory.appendingPathComponent("files")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let connection = Connection(engine: keychain.handler, caller: Caller(groups: ["G"]))
        return try body(ProtectedFiles(connection: connection, files: files), directory, keychain)
    }
}

/// Bytes that do not repeat within a file, and are made fast.
func content(_ count: Int, seed: UInt64 = 1) -> Data {
    var data = Data(count: (count + 7) / 8 * 8)
    data.withUnsafeMutableBytes { bytes in
        var state = seed
        for index in bytes.bindMemory(to: UInt64.self).indices {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            bytes.storeBytes(of: state ^ state >> 29, toByteOffset: index * 8, as: UInt64.self)
        }
    }
    return data.prefix(count)
}
