import Foundation
import KeychainSecurity
import KeychainTestSupport
import Testing

/// Chains made by lot, judged by this keychain and by `openssl verify`.
struct RandomTrustTests {
    private static let batch = 50

    @Test("TR.36 Chains made by lot are trusted if OpenSSL trusts them, but for the differences named")
    func agrees() throws {
        // The sample is the same each time. Scripts/torture draws others.
        var lot = Effort.isFull ? SeededGenerator() : SeededGenerator(seed: 1)
        let seed = lot.seed
        var seen: Set<RandomChain.Difference> = []
        var counts = (trusted: 0, refused: 0)
        for number in 0..<Effort.count(1_000, full: 100_000) / Self.batch {
            let isForServers = number.isMultiple(of: 2)
            let chains = (0..<Self.batch).map { RandomChain(named: "\($0)", isForServers: isForServers, by: &lot) }
            let theirs = try Self.trusted(chains, isForServers)
            for (place, chain) in chains.enumerated() {
                let verdict = try Self.verdict(chain)
                let (ours, other) = (verdict.status == 0, theirs.contains(place))
                ours && other ? (counts.trusted += 1) : (counts.refused += 1)
                guard ours != other else { continue }
                let reasons = chain.differences.filter { $0.isRefusedHere == other }
                seen.formUnion(reasons)
                let text =
                    "seed \(seed), batch \(number), chain \(place): ours \(verdict), OpenSSL's \(other)\n\(chain)"
                #expect(!reasons.isEmpty, "\(text)")
            }
        }
        // The lot draws chains of every kind, and each named difference.
        #expect(counts.trusted > 100 && counts.refused > 100)
        // Each named difference is one. The sample is too small for all of them.
        let unseen = Set(RandomChain.Difference.allCases).subtracting(seen)
        #expect(Effort.isFull ? unseen.isEmpty : unseen.count < 4)
    }

    private static func verdict(_ chain: RandomChain) throws -> TrustVerdict {
        let certificates = try (chain.certificates.dropLast() + chain.others).map { try SecCertificate.read($0.der()) }
        let root = try SecCertificate.read(chain.certificates[chain.certificates.count - 1].der())
        let policy = SecPolicyCreateSSL(chain.isForServers, RandomChain.host as NSString)
        return try TrustVerdict(of: certificates, policy, anchors: [root])
    }

    /// The places of the chains that OpenSSL trusts, which it judges in one run: all their names differ.
    private static func trusted(_ chains: [RandomChain], _ isForServers: Bool) throws -> Set<Int> {
        var files: [String: Data] = ["roots": Data(), "untrusted": Data()]
        for (place, chain) in chains.enumerated() {
            files["leaf\(place)"] = pem(try chain.certificates[0].der())
            files["roots"]! += pem(try chain.certificates[chain.certificates.count - 1].der())
            for recipe in chain.certificates.dropFirst().dropLast() + chain.others {
                files["untrusted"]! += pem(try recipe.der())
            }
        }
        let words =
            ["verify", "-policy_check", "-policy", "2.5.29.32.0", "-purpose", isForServers ? "sslserver" : "sslclient"]
            + ["-verify_hostname", RandomChain.host, "-attime", "\(Int(TestChain.date.timeIntervalSince1970))"]
            + ["-no-CApath", "-no-CAstore", "-CAfile", "roots", "-untrusted", "untrusted"]
        let output = try OpenSSL.run(words + chains.indices.map { "leaf\($0)" }, files).output
        let lines = String(decoding: output, as: UTF8.self).split(separator: "\n")
        return Set(lines.compactMap { $0.hasSuffix(": OK") ? Int($0.dropFirst(4).dropLast(4)) : nil })
    }

    private static func pem(_ der: Data) -> Data {
        let text = der.base64EncodedString(options: .lineLength64Characters)
        return Data("-----BEGIN CERTIFICATE-----\n\(text)\n-----END CERTIFICATE-----\n".utf8)
    }
}
