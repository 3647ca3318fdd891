import Foundation
import KeychainTestSupport
import Testing

@testable import KeychainCertificates

/// TR: trust, as far as it is about the work that a stranger's certificates make.
struct TR37WorkTests {
    /// A leaf with so many names, below ten authorities of one name and key that other authorities certified.
    private func evaluation(
        names: Int, _ constraints: [CertificateExtensionRecipe] = []
    ) throws -> TrustEvaluation {
        var chain = TestChain()
        let hosts = (0..<names).map { CertificateExtensionRecipe.Name.host("h\($0).example") }
        chain.leaf.extensions = [.names(hosts + [.host("leaf.example")]), .server]
        chain.authority.extensions += constraints
        var authorities: [Data] = []
        for number: UInt8 in 1...10 {
            var other = chain.authority
            (other.serial, other.issuer, other.signer) = (number + 1, "cross \(number)", TrustKeys.other)
            authorities.append(try other.der())
        }
        let certificates = try ([chain.leaf.der()] + authorities + [chain.authority.der()]).map(X509Certificate.init)
        let root = try X509Certificate(chain.root.der())
        return TrustEvaluation(
            certificates, policies: [.server(host: "leaf.example")],
            anchors: TrustAnchors(own: [root], includesSystem: false) { CertificateIndex([]) }, date: TestChain.date)
    }

    @Test("TR.37 The work of an evaluation grows as the certificates do", arguments: [false, true])
    func growth(isConstrained: Bool) throws {
        let constraints =
            isConstrained
            ? [
                CertificateExtensionRecipe.nameConstraints(
                    permitted: [.host("example")], excluded: (0..<50).map { .host("x\($0).example") })
            ] : []
        // 40, 80 and 160 KB.
        let steps = try [2_500, 5_000, 10_000].map { count in
            let (verdict, steps) = try evaluation(names: count, constraints).measuredVerdict()
            #expect(verdict.flaws.isEmpty)
            return steps
        }
        #expect(steps[1] - steps[0] > 2_000)
        #expect(steps[2] - steps[1] <= 2 * (steps[1] - steps[0]) + 100)
    }

    @Test("TR.37 A host is found among more names than it takes to compare each with each constraint")
    func manyConstraints() throws {
        let permitted = (0..<1_000).map { CertificateExtensionRecipe.Name.host("h\($0).example") }
        let own = [CertificateExtensionRecipe.Name.host("leaf.example"), .directory("leaf")]
        // Of the leaf also two names of its own: 1,002 · 1,002 pairs, and 1,048 · 1,002.
        let most = try evaluation(names: 1_000, [.nameConstraints(permitted: permitted + own)])
        #expect(most.verdict().flaws.isEmpty)
        let more = try evaluation(names: 1_046, [.nameConstraints(permitted: permitted + own)])
        #expect(more.verdict().flaws.first == TrustFlaw(.tooMuchWork, at: 0))
    }

    @Test("TR.37 More work than is done is a refusal with a reason of its own, which no exception excuses")
    func limit() throws {
        var evaluation = try evaluation(names: 100, [.nameConstraints(excluded: [.host("h.test")])])
        let (sound, steps) = evaluation.measuredVerdict()
        #expect(sound.flaws.isEmpty && steps < TrustEvaluation.usualSteps)
        for most in [0, steps / 2, steps - 1] {
            evaluation.mostSteps = most
            #expect(evaluation.verdict().flaws.first == TrustFlaw(.tooMuchWork, at: 0))
        }
        evaluation.mostSteps = steps
        #expect(evaluation.verdict().flaws.isEmpty)
        #expect(TrustFlaw.Reason.tooMuchWork.isFatal && TrustFlaw.Reason.tooMuchWork.status == -67596)
    }

    @Test("TR.27 A signature is remembered for the bytes of two certificates, not for their objects")
    func rememberedSignatures() throws {
        let chain = TestChain()
        var stranger = chain.authority
        (stranger.key, stranger.signer) = (TrustKeys.other, TrustKeys.other)
        let (leaf, work) = (try X509Certificate(chain.leaf.der()), TrustWork())
        let issuers = [try chain.authority.der(), try stranger.der()]
        for turn in 0..<100 {
            // The memory of the object before is free again.
            let issuer = try X509Certificate(issuers[turn % 2])
            #expect(work.isIssued(leaf, by: issuer) == turn.isMultiple(of: 2))
        }
    }
}
