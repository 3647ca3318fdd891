internal import Foundation
internal import KeychainCertificates
internal import KeychainClient
internal import KeychainEngine
internal import KeychainModel
internal import SwiftKeychain

/// A thousand certificates that are read from DER and added to a new store, in one transaction.
struct CertificateBenchmark {
    /// A directory for stores, on a disk.
    let directory: URL
    let repeats: Int

    private static let count = 1_000

    func run() throws -> Row {
        let files = try Self.files()
        let samples = try (0..<repeats).map { _ in try sample(files) }
        return Row(
            work: "1,000 certificates read and added, one transaction", items: nil, unit: .microseconds, floor: nil,
            engine: Figure(samples: samples), measure: .value, goal: 1_000_000)
    }

    private func sample(_ files: [Data]) throws -> Double {
        let place = directory.appending(path: "certificates-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: place) }
        let connection = Connection(engine: try makeEngine(directory: place, durable: true), caller: SampleItem.caller)
        let timed = try Stopwatch.time {
            let requests = try files.map { file in
                let certificate = try X509Certificate(file)
                var request = AddRequest(.certificate)
                request.attributes = CertificateAttributes(certificate).all
                request.secret = SecretBytes(copying: certificate.der)
                return request
            }
            return try connection.addMissing(requests)
        }
        guard timed.result.allSatisfy(\.self) else { throw BenchmarkError("a certificate was there already") }
        return timed.microseconds
    }

    /// One certificate with as many serial numbers. Nobody looks at its signature here.
    private static func files() throws -> [Data] {
        guard let template = Data(base64Encoded: text, options: .ignoreUnknownCharacters),
            let place = template.firstRange(of: Data([0xF1, 0xE2, 0xD3, 0xC4]))
        else { throw BenchmarkError("the certificate is another one") }
        return (0..<UInt32(count)).map { number in
            var file = template
            withUnsafeBytes(of: (0x4000_0000 + number).bigEndian) { file.replaceSubrange(place, with: $0) }
            return file
        }
    }

    private static let text = """
        MIIB3TCCAYKgAwIBAgIJAPHi08S1ppeIMAoGCCqGSM49BAMCMEgxCzAJBgNVBAYTAkNIMRQwEgYDVQQKDAtFeGFtcGxlIEx0ZDEO
        MAwGA1UECwwFVGVzdHMxEzARBgNVBAMMCmNhLmV4YW1wbGUwIBcNMjYxMTIxMDYzNDMxWhgPMjEyNjEwMjgwNjM0MzFaMEgxCzAJ
        BgNVBAYTAkNIMRQwEgYDVQQKDAtFeGFtcGxlIEx0ZDEOMAwGA1UECwwFVGVzdHMxEzARBgNVBAMMCmNhLmV4YW1wbGUwWTATBgcq
        hkjOPQIBBggqhkjOPQMBBwNCAAQHty+FYZOMBwBzKNLRVkH08RNJz8CKJeWXKyTgyIEfSmqimS1zN5RGy/hTMRm4KL+xYrijoa1Q
        nw0DEFbrlU+Ko1MwUTAdBgNVHQ4EFgQUVQXAME0ctwWkeUG2lhqOwruvu1UwHwYDVR0jBBgwFoAUVQXAME0ctwWkeUG2lhqOwruv
        u1UwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNJADBGAiEAxw2F+UYySoidh8Cht8w3aw6Xm08MjSvyk88rQkFcdBQCIQD6
        T1ppjwcXeQ1nUJ7qcFflVOmZFrNUOrVxvYBZyqTPzw==
        """
}
