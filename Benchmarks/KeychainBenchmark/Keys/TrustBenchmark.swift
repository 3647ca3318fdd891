internal import Foundation
internal import KeychainSecurity

/// Judging a chain of three certificates on P-256 for a host, in turn with OpenSSL: with certificates that are read already, and with
/// reading them each time.
struct TrustBenchmark {
    /// The program made from Benchmarks/Floor/verify.c.
    let verifier: String
    let count: Int
    let batches: Int

    private static let host = "leaf.example"

    func run() throws -> [Row] {
        let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let files = try Self.makeChain(in: directory)
        let openssl = try LineProcess(verifier, files.map(\.path) + [Self.host])
        let encodings = try files.map { try Data(contentsOf: $0) as CFData }
        let certificates = try encodings.map(Self.read)
        return [
            try row("judge a chain of three certificates", openssl, "judge") { try Self.judge(certificates) },
            try row("read and judge a chain of three certificates", openssl, "read") {
                try Self.judge(try encodings.map(Self.read))
            },
        ]
    }

    private func row(
        _ work: String, _ openssl: LineProcess, _ word: String, _ judge: () throws -> Void
    ) throws -> Row {
        var (ours, floor): ([Double], [Double]) = ([], [])
        // The first batch of each fills caches and is not counted.
        for batch in 0...batches {
            let mine = try (0..<count / batches).map { _ in try Stopwatch.time(judge).microseconds }
            let theirs = try openssl.samples(of: word, count: count / batches)
            if batch == 0 { continue }
            ours += mine
            floor += theirs
        }
        return Row(
            work: work, items: 3, unit: .microseconds, floor: Figure(samples: floor), engine: Figure(samples: ours),
            measure: .ratio, goal: 1.5)
    }

    private static func read(_ der: CFData) throws -> SecCertificate {
        guard let certificate = SecCertificateCreateWithData(nil, der) else {
            throw BenchmarkError("a certificate cannot be read")
        }
        return certificate
    }

    /// - Parameter certificates: Root, authority, leaf.
    private static func judge(_ certificates: [SecCertificate]) throws {
        var trust: SecTrust?
        let chain = [certificates[2], certificates[1]] as CFArray
        SecTrustCreateWithCertificates(chain, SecPolicyCreateSSL(true, host as CFString), &trust)
        SecTrustSetAnchorCertificates(trust!, [certificates[0]] as CFArray)
        guard SecTrustEvaluateWithError(trust!, nil) else { throw BenchmarkError("the chain is not trusted") }
    }

    /// Root, authority and leaf, in DER.
    private static func makeChain(in directory: URL) throws -> [URL] {
        let script = """
            set -e
            cd '\(directory.path)'
            for name in root authority leaf; do openssl ecparam -name prime256v1 -genkey -noout -out $name.key; done
            openssl req -x509 -new -key root.key -subj /CN=root -days 30 -out root.pem
            openssl req -new -key authority.key -subj /CN=authority -out authority.csr
            echo 'basicConstraints=critical,CA:TRUE' > authority.ext
            openssl x509 -req -in authority.csr -CA root.pem -CAkey root.key -days 30 -extfile authority.ext -out authority.pem
            openssl req -new -key leaf.key -subj /CN=leaf -out leaf.csr
            printf 'subjectAltName=DNS:\(host)\\nextendedKeyUsage=serverAuth\\n' > leaf.ext
            openssl x509 -req -in leaf.csr -CA authority.pem -CAkey authority.key -days 30 -extfile leaf.ext -out leaf.pem
            for name in root authority leaf; do openssl x509 -in $name.pem -outform DER -out $name.der; done
            """
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", script]
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw BenchmarkError("openssl made no chain") }
        return ["root", "authority", "leaf"].map { directory.appending(path: "\($0).der") }
    }
}
