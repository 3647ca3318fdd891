import Foundation
import KeychainSecurity
import KeychainTestSupport
import Testing

/// TR: trust, as far as it is about chains, anchors and what is asked of the object.
struct TR01ChainTests {
    private let chain = TestChain()
    private let root: SecCertificate
    private let authority: SecCertificate
    private let leaf: SecCertificate

    init() throws { (root, authority, leaf) = try chain.certificates }

    @Test("TR.1 TR.2 A chain leads to an anchor, or its issuer is missing")
    func chains() throws {
        #expect(try TrustVerdict(of: [leaf, authority], anchors: [root]) == .trusted(3))
        #expect(try TrustVerdict(of: [leaf], anchors: [root]) == .failed(errSecCreateChainFailed, 1))
        // The certificates beside the leaf may have any order, and the anchor may be among them.
        #expect(try TrustVerdict(of: [leaf, root, authority], anchors: [root]) == .trusted(3))
        // An anchor need not have signed itself.
        #expect(try TrustVerdict(of: [leaf], anchors: [authority]) == .trusted(2))
    }

    @Test("TR.3 An authority may be in the keychain", arguments: KeychainHost.everyHost)
    func storedAuthority(host: KeychainHost) throws {
        try withKeychain(host) { _ in
            let before = try TrustVerdict(of: [leaf], anchors: [root])
            #expect(before == .failed(errSecCreateChainFailed, 1))
            #expect(SecItemAdd([kSecValueRef: authority] as NSDictionary, nil) == errSecSuccess)
            #expect(try TrustVerdict(of: [leaf], anchors: [root]) == .trusted(3))
            // The object keeps what came out, until it is changed.
            #expect(SecItemDelete([kSecValueRef: authority] as NSDictionary) == errSecSuccess)
            #expect(try TrustVerdict(of: [leaf], anchors: [root]) == .failed(errSecCreateChainFailed, 1))
        }
    }

    @Test(
        "TR.3 A stored authority counts also if the one that came along has expired", arguments: KeychainHost.everyHost)
    func renewedAuthority(host: KeychainHost) throws {
        let former = try TestChain { $0.authority.notAfter = TestChain.date - 1 }.certificates.authority
        try withKeychain(host) { _ in
            let before = try TrustVerdict(of: [leaf, former], anchors: [root])
            #expect(before == .failed(errSecCertificateExpired))
            #expect(SecItemAdd([kSecValueRef: authority] as NSDictionary, nil) == errSecSuccess)
            #expect(try TrustVerdict(of: [leaf, former], anchors: [root]) == .trusted(3))
        }
    }

    @Test("TR.4 A root that is no anchor is not trusted")
    func privateRoot() throws {
        for certificates in [[leaf, authority, root], [root]] {
            let verdict = try TrustVerdict(of: certificates, anchors: nil)
            #expect(verdict == .failed(errSecNotTrusted, certificates.count))
        }
        #expect(try TrustVerdict(of: [leaf, authority], anchors: nil) == .failed(errSecCreateChainFailed, 2))
    }

    @Test("TR.5 TR.6 Anchors are set, taken back, and stand beside the system's")
    func anchors() throws {
        let trust = try SecTrust.made([leaf, authority], anchors: [])
        #expect(TrustVerdict(of: trust).status == Int(errSecCreateChainFailed))
        #expect(SecTrustSetAnchorCertificates(trust, [root, "text"] as NSArray) == errSecParam)
        #expect(TrustVerdict(of: trust).status == Int(errSecCreateChainFailed))
        #expect(SecTrustSetAnchorCertificates(trust, [root] as NSArray) == errSecSuccess)
        #expect(SecTrustSetAnchorCertificates(trust, [NSNull()] as NSArray) == errSecParam)
        #expect(TrustVerdict(of: trust) == .trusted(3))
        #expect(SecTrustSetAnchorCertificatesOnly(trust, false) == errSecSuccess)
        #expect(TrustVerdict(of: trust) == .trusted(3))
        var anchors: CFArray?
        #expect(SecTrustCopyCustomAnchorCertificates(trust, &anchors) == errSecSuccess)
        #expect(anchors as? [SecCertificate] == [root])
        #expect(SecTrustSetAnchorCertificates(trust, nil) == errSecSuccess)
        #expect(TrustVerdict(of: trust).status == Int(errSecCreateChainFailed))
        #expect(SecTrustCopyCustomAnchorCertificates(trust, &anchors) == errSecSuccess && anchors == nil)
    }

    @Test("TR.7 An object is made of certificates and policies")
    func creation() {
        var trust: SecTrust?
        for wrong: AnyObject in [[] as NSArray, "text" as NSString, [leaf, "text"] as NSArray, SecPolicy.basic] {
            #expect(SecTrustCreateWithCertificates(wrong, nil, &trust) == errSecParam && trust == nil)
        }
        for wrong: AnyObject in ["text" as NSString, [SecPolicy.basic, leaf] as NSArray, leaf] {
            #expect(SecTrustCreateWithCertificates(leaf, wrong, &trust) == errSecParam && trust == nil)
        }
        #expect(SecTrustCreateWithCertificates(leaf, [SecPolicy.basic, SecPolicy.server] as NSArray, &trust) == 0)
        var policies: CFArray?
        #expect(trust.map { SecTrustCopyPolicies($0, &policies) } == errSecSuccess)
        #expect(policies as? [SecPolicy] == [.basic, .server])
        #expect(trust.map { SecTrustSetPolicies($0, [] as NSArray) } == errSecParam)
        #expect(trust.map(CFGetTypeID) == SecTrustGetTypeID() && CFGetTypeID(SecPolicy.basic) == SecPolicyGetTypeID())
    }

    @Test("TR.9 An anchor is valid for its time alone, and signed in any way")
    func expiredAnchor() throws {
        let md5 = TestChain { $0.root.digest = .md5 }
        #expect(try md5.verdict(.basic) == .trusted(3) && md5.verdict(.server) == .trusted(3))
        for change: @Sendable (inout TestChain) -> Void in [
            { $0.root.notAfter = TestChain.date - 1 }, { $0.root.notBefore = TestChain.date + 1 },
        ] {
            let (root, authority, leaf) = try TestChain(change).certificates
            for policy in [SecPolicy.basic, .server] {
                let trust = try SecTrust.made([leaf, authority], policy, anchors: [root])
                #expect(TrustVerdict(of: trust) == .failed(errSecCertificateExpired))
                // A person may excuse it.
                let exceptions = try #require(SecTrustCopyExceptions(trust))
                #expect(SecTrustSetExceptions(trust, exceptions) && SecTrustEvaluateWithError(trust, nil))
            }
        }
    }

    @Test("TR.9 A leaf that is its own anchor is valid for its time alone")
    func expiredPin() throws {
        for date in [chain.leaf.notBefore - 1, chain.leaf.notAfter + 1] {
            let verdict = try TrustVerdict(of: [leaf], .server, anchors: [leaf], at: date)
            #expect(verdict == .failed(errSecCertificateExpired, 1))
        }
    }

    @Test("TR.10 A leaf that is an anchor is a chain by itself, and judged like every leaf")
    func leafAsAnchor() throws {
        func verdict(
            _ policy: SecPolicy = .server, _ change: (inout CertificateRecipe) -> Void
        ) throws -> TrustVerdict {
            var recipe = chain.leaf
            (recipe.issuer, recipe.signer) = (recipe.subject, recipe.key)
            change(&recipe)
            let certificate = try SecCertificate.read(recipe.der())
            return try TrustVerdict(of: [certificate], policy, anchors: [certificate])
        }
        #expect(try verdict { _ in } == .trusted(1))
        #expect(try TrustVerdict(of: [leaf], .server, anchors: [leaf]) == .trusted(1))
        #expect(try verdict { $0.digest = .sha1 } == .trusted(1))
        #expect(try verdict(.server("other.example")) { _ in } == .failed(errSecHostNameMismatch, 1))
        let names = CertificateExtensionRecipe.names([.host("leaf.example")])
        #expect(try verdict { $0.extensions = [names] } == .failed(errSecInvalidExtendedKeyUsage, 1))
        #expect(try verdict(.basic) { $0.extensions = [names] } == .trusted(1))
        let tooLong = try verdict { $0.notAfter = $0.notBefore + 826 * 86_400 }
        #expect(tooLong == .failed(errSecCertificateValidityPeriodTooLong, 1))
        #expect(try verdict { $0.extensions.append(.server) } == .failed(errSecCertificateDuplicateExtension, 1))
        let unreadable = CertificateExtensionRecipe("2.5.29.19", Data([0x31, 0x00]))
        #expect(try verdict { $0.extensions.append(unreadable) } == .failed(errSecUnknownCertExtension, 1))
        let unknown = CertificateExtensionRecipe("1.2.3.4", critical: true, Data([0x05, 0x00]))
        #expect(try verdict { $0.extensions.append(unknown) } == .failed(errSecUnknownCriticalExtensionFlag, 1))
        #expect(try verdict { ($0.subject, $0.issuer) = (nil, nil) } == .failed(errSecInvalidSubjectName, 1))
    }

    @Test("TR.20 A setting makes the object judge anew")
    func settings() throws {
        let trust = try SecTrust.made([leaf, authority], .server("other.example"), anchors: [root])
        #expect(TrustVerdict(of: trust) == .failed(errSecHostNameMismatch))
        #expect(SecTrustSetPolicies(trust, SecPolicy.server) == errSecSuccess)
        #expect(TrustVerdict(of: trust) == .trusted(3))
        #expect(SecTrustSetVerifyDate(trust, NSDate(timeIntervalSince1970: 0)) == errSecSuccess)
        #expect(TrustVerdict(of: trust) == .failed(errSecCertificateExpired))
        #expect(SecTrustGetVerifyTime(trust) == NSDate(timeIntervalSince1970: 0).timeIntervalSinceReferenceDate)
    }

    @Test("TR.21 Count and chain judge by themselves, key and leaf need no judgement")
    func results() throws {
        let trust = try SecTrust.made([leaf, authority], anchors: [root])
        #expect(SecTrustGetCertificateCount(trust) == 3)
        #expect(trust.chain == [leaf, authority, root])
        #expect(SecTrustCopyKey(trust) == SecCertificateCopyKey(leaf))
        let single = try SecTrust.made([leaf], anchors: [])
        #expect(SecTrustCopyKey(single) == SecCertificateCopyKey(leaf) && single.chain == [leaf])
        let result = try #require(SecTrustCopyResult(trust) as? [String: Any])
        #expect(result["TrustEvaluationDate"] as? Date == TestChain.date)
        #expect(result["TrustResultValue"] as? Int == 4)
        let failed = try #require(SecTrustCopyResult(single) as? [String: Any])
        let details = try #require(failed["TrustResultDetails"] as? [[String: Bool]])
        #expect(details == [["MissingIntermediate": false]])
        let properties = try #require(SecTrustCopyProperties(single) as? [[String: String]])
        #expect(properties.map { $0["title"] } == ["leaf"] && properties[0]["error"]?.contains("not found") == true)
    }

    @Test("TR.22 On a queue the outcome is the same, and told once")
    func queue() async throws {
        let queue = DispatchQueue(label: "trust")
        let trusts = try [
            SecTrust.made([leaf, authority], anchors: [root]), SecTrust.made([leaf, authority], anchors: []),
        ]
        for (trust, status) in zip(trusts, [0, Int(errSecCreateChainFailed)]) {
            let told: (Bool, (any Error)?) = await withCheckedContinuation { continuation in
                queue.async {
                    let isStarted = SecTrustEvaluateAsyncWithError(trust, queue) { same, isTrusted, error in
                        dispatchPrecondition(condition: .onQueue(queue))
                        // A second call would be a fault of its own.
                        continuation.resume(returning: (isTrusted && same === trust, error))
                    }
                    #expect(isStarted == errSecSuccess)
                }
            }
            #expect(told.0 == (status == 0) && (told.1 as NSError?)?.code ?? 0 == status)
        }
    }

    @Test("TR.25 The error names the certificate, the reason and all reasons")
    func errors() throws {
        let trust = try SecTrust.made([leaf, authority], .server("other.example"), anchors: [], at: Date())
        var error: CFError?
        #expect(!SecTrustEvaluateWithError(trust, &error))
        let failure = try #require(error)
        #expect(failure.domain == NSOSStatusErrorDomain && failure.code == Int(errSecCreateChainFailed))
        #expect(failure.localizedDescription.contains("“authority”"))
        let all = try #require(failure.userInfo[NSUnderlyingErrorKey] as? NSError).localizedDescription
        for word in ["not found", "other hosts", "expired"] { #expect(all.contains(word), "\(all)") }
        #expect(!SecTrustEvaluateWithError(trust, nil))
    }

    @Test("TR.26 Authorities that certified each other make no endless chain, and a chain has at most 15 certificates")
    func cycles() throws {
        let one = CertificateRecipe("one", TrustKeys.root, by: ("two", TrustKeys.authority))
        let two = CertificateRecipe("two", TrustKeys.authority, by: ("one", TrustKeys.root))
        let leaf = CertificateRecipe("leaf", TrustKeys.leaf, by: ("one", TrustKeys.root))
        let certificates = try [leaf, one, two].map { try SecCertificate.read($0.der()) }
        #expect(try TrustVerdict(of: certificates, anchors: []).status != 0)

        for (count, status) in [(15, OSStatus(0)), (16, errSecPathLengthConstraintExceeded)] {
            let ladder = try (0..<count).map { step in
                let issuer = min(step + 1, count - 1)
                var recipe = CertificateRecipe("\(step)", TrustKeys.root, by: ("\(issuer)", TrustKeys.root))
                if step > 0 { recipe.extensions = [.basicConstraints()] }
                return try SecCertificate.read(recipe.der())
            }
            let verdict = try TrustVerdict(of: ladder, anchors: [ladder[count - 1]])
            #expect(verdict.status == Int(status) && verdict.count == 15)
        }
    }

    @Test("TR.27 Of two authorities of one name the right one is found")
    func sameName() throws {
        var stranger = chain.authority
        stranger.key = TrustKeys.other
        let other = try SecCertificate.read(stranger.der())
        #expect(try TrustVerdict(of: [leaf, other, authority], anchors: [root]) == .trusted(3))
        #expect(try TrustVerdict(of: [leaf, other], anchors: [root]) == .failed(errSecCreateChainFailed, 1))
    }

    @Test("TR.30 Many threads may judge with one object")
    func threads() throws {
        let trust = try SecTrust.made([leaf, authority], anchors: [root])
        DispatchQueue.concurrentPerform(iterations: 64) { turn in
            if turn.isMultiple(of: 8) { _ = SecTrustSetPolicies(trust, SecPolicy.server) }
            #expect(SecTrustEvaluateWithError(trust, nil))
            #expect(SecTrustGetCertificateCount(trust) == 3)
        }
    }
}
