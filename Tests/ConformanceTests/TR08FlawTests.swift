import Foundation
import KeychainCrypto
import KeychainSecurity
import KeychainTestSupport
import Testing

/// TR: trust, as far as it is about flaws of certificates.
struct TR08FlawTests {
    private let day: TimeInterval = 86_400

    @Test("TR.8 A certificate is valid from its first to its last moment")
    func dates() throws {
        let chain = TestChain()
        let (start, end) = (chain.leaf.notBefore, chain.leaf.notAfter)
        for date in [start, end] { #expect(try chain.verdict(.basic, at: date) == .trusted(3)) }
        for date in [start - 1, end + 1] {
            #expect(try chain.verdict(.basic, at: date) == .failed(errSecCertificateExpired))
        }
        let authority = TestChain { $0.authority.notAfter = TestChain.date - 1 }
        #expect(try authority.verdict() == .failed(errSecCertificateExpired))
    }

    @Test("TR.13 Of several flaws the heaviest is told")
    func priority() throws {
        let chain = TestChain()
        let (root, authority, leaf) = try chain.certificates
        let late = chain.leaf.notAfter + 1
        let other = SecPolicy.server("other.example")
        #expect(try chain.verdict(other, at: late) == .failed(errSecHostNameMismatch))
        let untrusted = [leaf, authority, root]
        #expect(try TrustVerdict(of: untrusted, other, anchors: []) == .failed(errSecNotTrusted))
        #expect(try TrustVerdict(of: untrusted, .server, anchors: [], at: late) == .failed(errSecNotTrusted))
        let small = TestChain { $0.leaf.key = TrustKeys.rsa1024 }
        #expect(try small.verdict(other, at: late) == .failed(errSecUnsupportedKeySize))
    }

    @Test("TR.14 SHA-1 is refused of servers, MD5 always")
    func digests() throws {
        let former = TestChain { $0.leaf.digest = .sha1 }
        #expect(try former.verdict(.server) == .failed(errSecInvalidDigestAlgorithm))
        #expect(try former.verdict(.basic) == .trusted(3))
        #expect(try TestChain { $0.authority.digest = .sha1 }.verdict() == .failed(errSecInvalidDigestAlgorithm))
        let broken = TestChain { $0.leaf.digest = .md5 }
        for policy in [SecPolicy.basic, .server] {
            #expect(try broken.verdict(policy) == .failed(errSecInvalidDigestAlgorithm, 3, .fatalTrustFailure))
        }
    }

    @Test("TR.15 Servers have no small keys, and nobody has tiny ones")
    func keySizes() throws {
        let small = TestChain {
            $0.leaf.key = TrustKeys.rsa1024
            $0.leaf.extensions = [.names([.host("leaf.example")]), .purposes("1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2")]
        }
        #expect(try small.verdict(.server) == .failed(errSecUnsupportedKeySize))
        #expect(try small.verdict(.client) == .trusted(3))
        #expect(try small.verdict(.basic) == .trusted(3))
        let tiny = TestChain { $0.leaf.key = TrustKeys.rsa512 }
        for policy in [SecPolicy.basic, .server, .client] {
            #expect(try tiny.verdict(policy) == .failed(errSecUnsupportedKeySize, 3, .fatalTrustFailure))
        }
        // Also of the anchor.
        let root = TestChain {
            ($0.root.key, $0.root.signer, $0.authority.signer) =
                (TrustKeys.rsa1024, TrustKeys.rsa1024, TrustKeys.rsa1024)
        }
        #expect(try root.verdict(.server) == .failed(errSecUnsupportedKeySize))
        #expect(try root.verdict(.basic) == .trusted(3))
    }

    @Test("TR.16 A certificate is meant for servers, for clients, or until July 2019 for anything")
    func purposes() throws {
        func chain(_ purposes: CertificateExtensionRecipe?, from start: TimeInterval = 1_700_000_000) -> TestChain {
            TestChain {
                $0.leaf.extensions = [.names([.host("leaf.example")])] + (purposes.map { [$0] } ?? [])
                $0.leaf.notBefore = Date(timeIntervalSince1970: start)
            }
        }
        let clientOnly = chain(.client)
        #expect(try clientOnly.verdict(.server) == .failed(errSecInvalidExtendedKeyUsage))
        #expect(try clientOnly.verdict(.client) == .trusted(3))
        #expect(try chain(.server).verdict(.client) == .failed(errSecInvalidExtendedKeyUsage))
        #expect(try chain(nil).verdict(.client) == .trusted(3))
        #expect(try chain(nil).verdict(.basic) == .trusted(3))
        #expect(try chain(nil).verdict(.server) == .failed(errSecInvalidExtendedKeyUsage))
        // The rule's first day, and the moment before it: shorter lives, so that only the purpose matters.
        let rule: TimeInterval = 1_561_939_200
        for (start, isTrusted) in [(rule - 1, true), (rule, false)] {
            var old = chain(nil, from: start)
            old.leaf.notAfter = Date(timeIntervalSince1970: start + 100 * day)
            (old.root.notBefore, old.authority.notBefore) = (old.leaf.notBefore, old.leaf.notBefore)
            let date = Date(timeIntervalSince1970: start + day)
            #expect(try old.verdict(.server, at: date).status == (isTrusted ? 0 : Int(errSecInvalidExtendedKeyUsage)))
        }
        for purpose in ["1.3.6.1.4.1.311.10.3.3", "2.16.840.1.113730.4.1"] {
            #expect(try chain(.purposes(purpose)).verdict(.server) == .trusted(3))
        }
    }

    @Test("TR.17 A server's certificate is valid for at most 825 days since July 2019")
    func validity() throws {
        let rule: TimeInterval = 1_561_939_200
        let hour = 1.0 / 24
        for (start, days, isTrusted) in [
            (rule + day, 826.0, false), (rule + day, 825, true), (rule - day, 4000, true),
            (rule + day, 825 + hour, true), (rule + day, 825 + hour + 1 / day, false),
        ] {
            let chain = TestChain {
                $0.leaf.notBefore = Date(timeIntervalSince1970: start)
                ($0.root.notBefore, $0.authority.notBefore) = ($0.leaf.notBefore, $0.leaf.notBefore)
                $0.leaf.notAfter = Date(timeIntervalSince1970: start + days * day)
            }
            let verdict = try chain.verdict(.server, at: Date(timeIntervalSince1970: start + day))
            #expect(verdict == (isTrusted ? .trusted(3) : .failed(errSecCertificateValidityPeriodTooLong)))
            #expect(try chain.verdict(.basic, at: Date(timeIntervalSince1970: start + day)) == .trusted(3))
        }
    }

    @Test("TR.18 An issuer is an authority, and says how many are below it")
    func authorities() throws {
        func verdict(_ extensions: [CertificateExtensionRecipe]) throws -> TrustVerdict {
            try TestChain { $0.authority.extensions = extensions }.verdict(.basic)
        }
        #expect(try verdict([.basicConstraints(isAuthority: false)]) == .failed(errSecNoBasicConstraintsCA))
        #expect(try verdict([.keyUsage(0x04)]) == .failed(errSecNoBasicConstraints))
        #expect(try verdict([.basicConstraints(), .keyUsage(0x80)]) == .failed(errSecNoBasicConstraintsCA))
        #expect(try verdict([.basicConstraints(0)]) == .trusted(3))
        func root(_ extensions: [CertificateExtensionRecipe], _ version: Int = 3) throws -> TrustVerdict {
            try TestChain {
                $0.root.extensions = extensions
                $0.root.version = version
            }.verdict(.basic)
        }
        #expect(try root([.basicConstraints(0)]) == .failed(errSecPathLengthConstraintExceeded))
        #expect(try root([.basicConstraints(1)]) == .trusted(3))
        // Only an anchor of before version 3 need not say that it is an authority's: a server that a program trusts is none.
        #expect(try root([], 1) == .trusted(3))
        #expect(try root([]) == .failed(errSecNoBasicConstraints))
        #expect(try root([.basicConstraints(isAuthority: false)]) == .failed(errSecNoBasicConstraintsCA))
    }

    @Test(
        "TR.19 Names within the constraints of an authority",
        arguments: [
            ([.host("leaf.example")], [], true), ([.host("example")], [], true), ([.host("other")], [], false),
            ([.host("af.example")], [], false), ([.host("")], [], true), ([], [.host("example")], false),
            ([], [.host("other")], true), ([.address([10, 0, 0, 0, 255, 0, 0, 0])], [], true),
            ([.directory("leaf")], [], true), ([.directory("LEAF")], [], true), ([.directory("other")], [], false),
            ([], [.directory("leaf")], false),
        ] as [([CertificateExtensionRecipe.Name], [CertificateExtensionRecipe.Name], Bool)])
    func nameConstraints(
        permitted: [CertificateExtensionRecipe.Name], excluded: [CertificateExtensionRecipe.Name], isTrusted: Bool
    ) throws {
        for isOfRoot in [false, true] {
            let chain = TestChain {
                let constraints = CertificateExtensionRecipe.nameConstraints(permitted: permitted, excluded: excluded)
                if isOfRoot {
                    // Its own authority has a name, too.
                    $0.authority.subject = "leaf"
                    $0.leaf.issuer = "leaf"
                    $0.root.extensions.append(constraints)
                } else {
                    $0.authority.extensions.append(constraints)
                }
            }
            #expect(try chain.verdict() == (isTrusted ? .trusted(3) : .failed(errSecInvalidName)))
        }
    }

    @Test(
        "TR.19 Names of each kind within constraints",
        arguments: [
            (.address([10, 1, 2, 3]), .address([10, 0, 0, 0, 255, 0, 0, 0]), true),
            (.address([11, 1, 2, 3]), .address([10, 0, 0, 0, 255, 0, 0, 0]), false),
            (.emailAddress("a@host.example"), .emailAddress("host.example"), true),
            (.emailAddress("a@sub.host.example"), .emailAddress("host.example"), false),
            (.emailAddress("a@sub.host.example"), .emailAddress(".host.example"), true),
            (.emailAddress("A@host.example"), .emailAddress("a@host.example"), false),
            (.emailAddress("a@HOST.example"), .emailAddress("a@host.example"), true),
            (.emailAddress("b@host.example"), .emailAddress("a@host.example"), false),
            (.uri("https://host.example/path"), .uri("host.example"), true),
            (.uri("https://sub.host.example/"), .uri("host.example"), false),
            (.uri("https://sub.host.example/"), .uri(".host.example"), true),
            (.uri("urn:without:host"), .uri("host.example"), false),
            (.host("*.host.example"), .host("host.example"), true),
        ] as [(CertificateExtensionRecipe.Name, CertificateExtensionRecipe.Name, Bool)])
    func kindsOfNames(
        name: CertificateExtensionRecipe.Name, constraint: CertificateExtensionRecipe.Name, isWithin: Bool
    ) throws {
        func status(_ constraints: CertificateExtensionRecipe) throws -> Int {
            try TestChain {
                $0.leaf.extensions = [.names([name])]
                $0.authority.extensions.append(constraints)
            }.verdict(.basic).status
        }
        #expect(try status(.nameConstraints(permitted: [constraint])) == (isWithin ? 0 : Int(errSecInvalidName)))
        // A URI without a host is excluded by every constraint, and a mail address in other letters by its own.
        var isExcluded = isWithin
        if case .uri(let text) = name, text.hasPrefix("urn:") { isExcluded = true }
        if case .emailAddress("A@host.example") = name { isExcluded = true }
        #expect(try status(.nameConstraints(excluded: [constraint])) == (isExcluded ? Int(errSecInvalidName) : 0))
    }

    @Test("TR.19 A wildcard stands for the host that an authority excludes")
    func excludedWildcard() throws {
        let chain = TestChain {
            $0.leaf.extensions = [.names([.host("*.host.example")])]
            $0.authority.extensions.append(.nameConstraints(excluded: [.host("secret.host.example")]))
        }
        #expect(try chain.verdict(.basic) == .failed(errSecInvalidName))
    }

    @Test("TR.19 What an anchor says of those below it has to be understood")
    func anchorsExtensions() throws {
        func verdict(_ extra: CertificateExtensionRecipe) throws -> TrustVerdict {
            try TestChain { $0.root.extensions.append(extra) }.verdict(.basic)
        }
        let empty = Data([0x30, 0x00])
        #expect(try verdict(.init("1.2.3.4", critical: true, empty)) == .failed(errSecUnknownCriticalExtensionFlag))
        #expect(try verdict(.init("2.5.29.30", Data([0x31, 0x00]))) == .failed(errSecUnknownCertExtension))
        #expect(try verdict(.basicConstraints()) == .failed(errSecCertificateDuplicateExtension))
    }

    @Test("TR.19 A name that cannot be compared is within no permission, and within every exclusion of its kind")
    func incomparableNames() throws {
        // A host beyond ASCII, a directory name with an empty part, a mail address beyond ASCII, and an address of five bytes.
        let names: [(CertificateExtensionRecipe.Name, CertificateExtensionRecipe.Name)] = [
            (.encoded(OpenSSL.node(0x82, Data("\u{E9}.example".utf8))), .host("example")),
            (.encoded(OpenSSL.node(0xA4, OpenSSL.node(0x30, OpenSSL.node(0x31, Data())))), .directory("example")),
            (.encoded(OpenSSL.node(0x81, Data("\u{E9}@example".utf8))), .emailAddress("example")),
            (.address([10, 0, 0, 0, 0]), .address([10, 0, 0, 0, 255, 0, 0, 0])),
            (.emailAddress("nobody"), .emailAddress("example")),
            (.host(String(repeating: "a.", count: 130) + "example"), .host("example")),
        ]
        for (name, constraint) in names {
            func verdict(_ constraints: [CertificateExtensionRecipe]) throws -> TrustVerdict {
                try TestChain {
                    $0.leaf.subject = nil
                    $0.leaf.extensions = [.names([name, .host("leaf.test")], critical: true), .server]
                    $0.authority.extensions += constraints
                }.verdict(.server("leaf.test"))
            }
            #expect(try verdict([]) == .trusted(3))
            #expect(try verdict([.nameConstraints(permitted: [constraint])]).status == Int(errSecInvalidName))
            #expect(try verdict([.nameConstraints(excluded: [constraint])]).status == Int(errSecInvalidName))
            #expect(try verdict([.nameConstraints(excluded: [.uri("example")])]) == .trusted(3))
        }
    }

    @Test("TR.19 A mail address of the subject that cannot be read is within no permission")
    func mailOfSubject() throws {
        for (text, tag, isWhole) in [("a\u{E9}@evil.example", 0x16, true), ("a@good.example", 0x0C, false)] {
            let mail = OpenSSL.node(
                0x30, OpenSSL.identifier("1.2.840.113549.1.9.1") + OpenSSL.node(UInt8(tag), Data(text.utf8)))
            let parts = OpenSSL.node(0x31, mail) + (isWhole ? Data() : OpenSSL.node(0x31, Data()))
            let chain = TestChain {
                $0.leaf.encoded.subject = OpenSSL.node(0x30, parts)
                $0.leaf.extensions = [.names([.host("leaf.example")], critical: true), .server]
                $0.authority.extensions.append(.nameConstraints(permitted: [.emailAddress("good.example")]))
            }
            #expect(try chain.verdict().status == Int(errSecInvalidName))
        }
    }

    @Test("TR.19 Constraints in odd forms: zero distances are none, a host below an excluded one is no wildcard's")
    func oddConstraints() throws {
        func chain(_ host: String, _ subtree: Data, excluded: Bool = false) -> TestChain {
            let list = OpenSSL.node(excluded ? 0xA1 : 0xA0, OpenSSL.node(0x30, subtree))
            return TestChain {
                $0.leaf.extensions = [.names([.host(host)])]
                $0.authority.extensions.append(.init("2.5.29.30", critical: true, OpenSSL.node(0x30, list)))
            }
        }
        func isRead(_ chain: TestChain) throws -> Bool {
            SecCertificateCreateWithData(nil, try chain.authority.der() as NSData) != nil
        }
        func host(_ text: String) -> Data { OpenSSL.node(0x82, Data(text.utf8)) }
        func distance(_ number: UInt8) -> Data { OpenSSL.node(0x80, Data([number])) }
        #expect(try chain("leaf.example", host("example") + distance(0)).verdict(.basic) == .trusted(3))
        #expect(try !isRead(chain("leaf.example", host("example") + distance(1))))
        #expect(try chain("*.example", host(".h.example"), excluded: true).verdict(.basic) == .trusted(3))
        let wildcard = try chain("*.example", host("h.example"), excluded: true).verdict(.basic)
        #expect(wildcard == .failed(errSecInvalidName))
        // A mail address has both of its parts.
        for text in ["@evil.example", "a@"] {
            #expect(try !isRead(chain("leaf.example", OpenSSL.node(0x81, Data(text.utf8)), excluded: true)))
        }
        for uri in ["http://@/", "http://:80/"] {
            let chain = TestChain {
                $0.leaf.extensions = [.names([.uri(uri)])]
                $0.authority.extensions.append(.nameConstraints(excluded: [.uri("evil.example")]))
            }
            #expect(try chain.verdict(.basic) == .failed(errSecInvalidName))
        }
    }

    @Test("TR.19 Excluded names of a directory are compared by their meaning")
    func composedLetters() throws {
        let chain = TestChain {
            $0.leaf.subject = "E\u{301}a"
            $0.authority.extensions.append(.nameConstraints(excluded: [.directory("\u{C9}A")]))
        }
        #expect(try chain.verdict(.basic) == .failed(errSecInvalidName))
    }

    @Test("TR.19 Constraints that constrain nothing are unreadable")
    func emptyConstraints() throws {
        for content: [UInt8] in [[0x30, 0x00], [0x30, 0x02, 0xA0, 0x00], [0x30, 0x04, 0xA0, 0x00, 0xA1, 0x00]] {
            let chain = TestChain { $0.authority.extensions.append(.init("2.5.29.30", Data(content))) }
            #expect(try chain.verdict(.basic) == .failed(errSecUnknownCertExtension))
        }
    }

    @Test("TR.19 A critical policy with a qualifier that is not known is refused")
    func unknownQualifier() throws {
        for (qualifier, isCritical, isTrusted) in [
            ("1.2.3.4", true, false), ("1.2.3.4", false, true), ("1.3.6.1.5.5.7.2.1", true, true),
        ] {
            let chain = TestChain {
                $0.leaf.extensions.append(.policies("1.2.3", qualifier: qualifier, critical: isCritical))
            }
            #expect(try chain.verdict() == (isTrusted ? .trusted(3) : .failed(errSecUnknownCriticalExtensionFlag)))
        }
    }

    @Test("TR.38 Names in other kinds of text, case and spacing chain")
    func kindsOfText() throws {
        let (utf8, printable, teletex): (UInt8, UInt8, UInt8) = (0x0C, 0x13, 0x14)
        for (text, tag, isSame) in [
            ("Authority  one", printable, true), ("AUTHORITY ONE", utf8, true), ("authority one", teletex, true),
            ("authority two", printable, false),
        ] {
            let chain = TestChain {
                $0.authority.encoded.subject = CertificateRecipe.name("authority one")
                $0.leaf.encoded.issuer = CertificateRecipe.name(text, tag: tag)
            }
            #expect(try chain.verdict() == (isSame ? .trusted(3) : .failed(errSecCreateChainFailed, 1)))
        }
    }

    @Test("TR.38 Values that are not text are those of one attribute, and texts of many marks are compared as bytes")
    func otherValues() throws {
        func name(_ type: String, _ value: Data) -> Data {
            let attribute = OpenSSL.node(0x30, OpenSSL.identifier(type) + OpenSSL.node(0x13, value))
            return OpenSSL.node(0x30, OpenSSL.node(0x31, attribute))
        }
        let value = Data([0x49, 0xFC])
        for (type, isSame) in [("2.5.4.3", true), ("2.5.4.10", false)] {
            let chain = TestChain {
                ($0.authority.encoded.subject, $0.leaf.encoded.issuer) = (name("2.5.4.3", value), name(type, value))
            }
            #expect(try chain.verdict() == (isSame ? .trusted(3) : .failed(errSecCreateChainFailed, 1)))
        }
        // The same letter with its marks in two orders, and with more marks than anybody writes.
        for (count, isSame) in [(1, true), (15, true), (16, false)] {
            let (one, other) = (
                "a" + String(repeating: "\u{301}\u{323}", count: count),
                "a" + String(repeating: "\u{323}", count: count) + String(repeating: "\u{301}", count: count)
            )
            let chain = TestChain { ($0.authority.subject, $0.leaf.issuer) = (one, other) }
            #expect(try chain.verdict() == (isSame ? .trusted(3) : .failed(errSecCreateChainFailed, 1)))
        }
    }

    @Test("TR.39 A key on a curve has a point of it, and an RSA key two numbers")
    func brokenKeys() throws {
        let curve = OpenSSL.identifier("1.2.840.10045.2.1") + OpenSSL.identifier("1.2.840.10045.3.1.7")
        let rsa = OpenSSL.identifier("1.2.840.113549.1.1.1") + OpenSSL.node(0x05, Data())
        let modulus = OpenSSL.node(0x02, Data([0]) + Data(repeating: 0xF1, count: 256))
        let three = OpenSSL.node(0x30, modulus + OpenSSL.node(0x02, Data([3])) + OpenSSL.node(0x05, Data()))
        for (algorithm, key) in [(curve, Data([4]) + Data(count: 64)), (curve, Data()), (rsa, three)] {
            let info = OpenSSL.node(0x30, OpenSSL.node(0x30, algorithm) + OpenSSL.node(0x03, Data([0]) + key))
            let chain = TestChain { $0.leaf.encoded.key = info }
            #expect(try chain.verdict(.basic) == .failed(errSecUnsupportedKeySize, 3, .fatalTrustFailure))
        }
    }

    @Test("TR.39 Certificates with oddities are read, and judged")
    func oddities() throws {
        // Bits of a key usage beyond the last one.
        let usage = CertificateExtensionRecipe("2.5.29.15", critical: true, OpenSSL.node(0x03, Data([0x05, 0xAF])))
        #expect(try TestChain { $0.leaf.extensions.append(usage) }.verdict() == .trusted(3))
        #expect(try TestChain { $0.authority.extensions = [.basicConstraints(), usage] }.verdict().status != 0)
        // A name with an empty part, and one with a part that has no value, are no names.
        let parts = [Data(), OpenSSL.node(0x30, OpenSSL.identifier("2.5.4.3"))]
        for part in parts {
            let name = OpenSSL.node(0x30, OpenSSL.node(0x31, part))
            #expect(try TestChain { $0.leaf.encoded.subject = name }.verdict() == .failed(errSecInvalidSubjectName))
            let chain = TestChain { ($0.authority.encoded.subject, $0.leaf.encoded.issuer) = (name, name) }
            #expect(try chain.verdict().status == Int(errSecInvalidSubjectName))
        }
        // A root may spell out that it is of version 1.
        let old = TestChain { ($0.root.version, $0.root.writesFirstVersion, $0.root.extensions) = (1, true, []) }
        #expect(try old.verdict() == .trusted(3))
        // Places of lists are a list, and policy constraints have a number that is not negative.
        for (identifier, content) in [
            ("2.5.29.31", [0x05, 0x00]), ("2.5.29.36", [0x30, 0x00]), ("2.5.29.36", [0x30, 0x03, 0x80, 0x01, 0xFF]),
            ("2.5.29.54", [0x02, 0x01, 0xFF]),
        ] as [(String, [UInt8])] {
            let chain = TestChain { $0.authority.extensions.append(.init(identifier, Data(content))) }
            let expected = identifier == "2.5.29.36" ? errSecInvalidPolicyIdentifiers : errSecUnknownCertExtension
            #expect(try chain.verdict(.basic).status == Int(expected))
        }
        // A serial number with a byte too many is none.
        for (serial, isRead) in [
            ([0x00, 0x7F], false), ([0xFF, 0x80], false), ([0x00, 0x80], true), ([0x00], true), ([0x7F, 0x00], true),
        ] as [([UInt8], Bool)] {
            let recipe = TestChain { $0.leaf.encoded.serial = Data(serial) }.leaf
            #expect(try (SecCertificateCreateWithData(nil, recipe.der() as NSData) != nil) == isRead)
        }
    }

    @Test("TR.39 A key of a kind that is not known is told apart from a small one")
    func unknownKind() throws {
        // DSA.
        let algorithm = OpenSSL.node(0x30, OpenSSL.identifier("1.2.840.10040.4.1"))
        let key = OpenSSL.node(0x30, algorithm + OpenSSL.node(0x03, Data([0, 2, 1, 5])))
        let (root, authority, leaf) = try TestChain { $0.leaf.encoded.key = key }.certificates
        var error: CFError?
        #expect(!SecTrustEvaluateWithError(try .made([leaf, authority], anchors: [root]), &error))
        #expect(error?.code == Int(errSecUnsupportedKeySize))
        #expect(error?.localizedDescription.contains("not known") == true)
    }

    @Test("TR.19 Extensions that are unknown, unreadable or there twice")
    func extensions() throws {
        func verdict(_ extra: [CertificateExtensionRecipe]) throws -> TrustVerdict {
            try TestChain { $0.leaf.extensions += extra }.verdict()
        }
        let unknown = Data([0x05, 0x00])
        #expect(try verdict([.init("1.2.3.4", critical: true, unknown)]) == .failed(errSecUnknownCriticalExtensionFlag))
        #expect(try verdict([.init("1.2.3.4", unknown)]) == .trusted(3))
        #expect(try verdict([.init("2.5.29.19", Data([0x30, 0x05]))]) == .failed(errSecUnknownCertExtension))
        #expect(try verdict([.server]) == .failed(errSecCertificateDuplicateExtension))
        // Nearly every certificate in use tells where its list of revoked ones is. None is asked for.
        let address = OpenSSL.node(0xA0, OpenSSL.node(0xA0, OpenSSL.node(0x86, Data("http://example/list".utf8))))
        let places = [OpenSSL.node(0x30, address), OpenSSL.node(0x31, address)]
        #expect(try verdict([.init("2.5.29.31", OpenSSL.node(0x30, places[0]))]) == .trusted(3))
        #expect(
            try verdict([.init("2.5.29.31", OpenSSL.node(0x30, places[0] + places[1]))])
                == .failed(errSecUnknownCertExtension))
    }

    @Test("TR.31 A subject is named, or has an alternative name that is critical")
    func emptySubject() throws {
        for (isCritical, isTrusted) in [(true, true), (false, false)] {
            let chain = TestChain {
                $0.leaf.subject = nil
                $0.leaf.extensions = [.names([.host("leaf.example")], critical: isCritical), .server]
            }
            #expect(try chain.verdict() == (isTrusted ? .trusted(3) : .failed(errSecInvalidSubjectName)))
        }
    }

    @Test("TR.32 Key identifiers of a certificate and its issuer agree")
    func keyIdentifiers() throws {
        for (identifier, isTrusted) in [(Data([1]), true), (Data([2]), false)] {
            let chain = TestChain {
                $0.authority.extensions.append(.subjectKeyIdentifier(Data([1])))
                $0.leaf.extensions.append(.authorityKeyIdentifier(identifier))
            }
            #expect(try chain.verdict() == (isTrusted ? .trusted(3) : .failed(errSecInvalidIDLinkage)))
        }
    }

    @Test("TR.33 A signature whose algorithm has two names is none")
    func twoAlgorithms() throws {
        let chain = TestChain { $0.leaf.innerDigest = .sha1 }
        #expect(try chain.verdict(.basic) == .failed(errSecCreateChainFailed, 1))
    }

    @Test("TR.33 Parameters that are NULL and parameters that are absent name one algorithm of RSA")
    func absentParameters() throws {
        let chain = TestChain {
            ($0.authority.key, $0.leaf.signer, $0.leaf.innerLacksNull) = (TrustKeys.rsa2048, TrustKeys.rsa2048, true)
        }
        #expect(try chain.verdict(.server) == .trusted(3))
        #expect(
            try TestChain {
                $0.leaf.digest = .md5; $0.leaf.innerLacksNull = true
            }.verdict(.basic).count == 3)
    }

    @Test("TR.34 A policy that an authority demands is in every certificate, in its own terms")
    func policies() throws {
        func status(
            _ authority: [CertificateExtensionRecipe], _ leaf: [CertificateExtensionRecipe]
        ) throws -> Int {
            try TestChain {
                $0.authority.extensions += authority
                $0.leaf.extensions += leaf
            }.verdict(.basic).status
        }
        let (one, other, any) = ("1.2.3", "1.2.4", "2.5.29.32.0")
        let demand = CertificateExtensionRecipe.requireExplicitPolicy(0)
        let refused = Int(errSecInvalidPolicyIdentifiers)
        #expect(try status([demand, .policies(one)], [.policies(one)]) == 0)
        #expect(try status([demand, .policies(any)], [.policies(one)]) == 0)
        #expect(try status([demand, .policies(one)], [.policies(other)]) == refused)
        #expect(try status([demand, .policies(one)], []) == refused)
        #expect(try status([demand], [.policies(one)]) == refused)
        #expect(try status([.policies(one)], []) == 0)
        #expect(try status([demand, .policies(one), .policyMapping(one, other)], [.policies(other)]) == 0)
        #expect(try status([demand, .policies(one), .policyMapping(one, other)], [.policies(one)]) == refused)
        #expect(try status([.requireExplicitPolicy(1), .policies(one)], [.policies(other)]) == refused)
        #expect(try status([.requireExplicitPolicy(5), .policies(one)], [.policies(other)]) == 0)
    }

    @Test("TR.29 Chains have keys of both kinds")
    func mixedKeys() throws {
        let chain = TestChain {
            ($0.authority.key, $0.leaf.signer) = (TrustKeys.rsa2048, TrustKeys.rsa2048)
        }
        #expect(try chain.verdict() == .trusted(3))
        let turned = TestChain {
            ($0.root.key, $0.root.signer, $0.authority.signer) =
                (TrustKeys.rsa2048, TrustKeys.rsa2048, TrustKeys.rsa2048)
        }
        #expect(try turned.verdict() == .trusted(3))
    }

    @Test("TR.24 A demand for proof that nothing was revoked is never met")
    func revocation() throws {
        let wants = try #require(SecPolicyCreateRevocation(kSecRevocationRequirePositiveResponse))
        #expect(try TestChain().verdict(wants) == .failed(errSecIncompleteCertRevocationCheck))
        let allows = try #require(SecPolicyCreateRevocation(kSecRevocationUseAnyAvailableMethod))
        #expect(try TestChain().verdict(allows) == .trusted(3))
    }
}
