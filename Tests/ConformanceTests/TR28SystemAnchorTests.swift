import Foundation
import KeychainCertificates
import KeychainKeys
import KeychainTestSupport
import Synchronization
import Testing

/// TR: trust, as far as it is about the roots of the system.
struct TR28SystemAnchorTests {
    private let chain = TestChain()

    private func pem(_ certificates: Data...) -> Data {
        Data(
            certificates.map {
                "words between blocks\n-----BEGIN CERTIFICATE-----\n"
                    + $0.base64EncodedString(options: .lineLength64Characters) + "\n-----END CERTIFICATE-----\n"
            }.joined().utf8)
    }

    private func verdict(_ anchors: SystemAnchors) throws -> [TrustFlaw.Reason] {
        let certificates = try [chain.leaf, chain.authority].map { try X509Certificate($0.der()) }
        let evaluation = TrustEvaluation(
            certificates, policies: [.server(host: "leaf.example")], anchors: TrustAnchors { anchors.index },
            date: TestChain.date)
        return evaluation.verdict().flaws.map(\.reason)
    }

    @Test("TR.28 The file that the environment names has the roots, and is read again when it has changed")
    func file() throws {
        try withTemporaryDirectory { directory in
            let file = directory.appending(path: "roots.pem")
            let anchors = SystemAnchors(variable: { $0 == "SSL_CERT_FILE" ? file.path : nil }, files: [])
            #expect(try verdict(anchors) == [.missingIssuer])
            let root = try chain.root.der()
            try pem(Data([1, 2, 3]), root, root).write(to: file)
            #expect(try verdict(anchors).isEmpty && anchors.index.count == 2)
            try Data("no certificates".utf8).write(to: file)
            #expect(try verdict(anchors) == [.missingIssuer])
            // One certificate may lie there as it is.
            try root.write(to: file)
            #expect(try verdict(anchors).isEmpty)
            try FileManager.default.removeItem(at: file)
            #expect(mkfifo(file.path, 0o600) == 0)
            // A pipe would keep its reader waiting.
            #expect(try verdict(anchors) == [.missingIssuer])
        }
    }

    @Test("TR.28 Directories have a file for each root, and the first usual file counts without any variable")
    func directories() throws {
        try withTemporaryDirectory { directory in
            let (one, other) = (directory.appending(path: "one"), directory.appending(path: "other"))
            for place in [one, other] {
                try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
            }
            try pem(try chain.root.der()).write(to: other.appending(path: "root.pem"))
            let names = "\(one.path):\(directory.path)/missing:\(other.path)"
            let anchors = SystemAnchors(variable: { $0 == "SSL_CERT_DIR" ? names : nil }, files: [])
            #expect(try verdict(anchors).isEmpty)
            let usual = SystemAnchors(
                variable: { _ in nil }, files: [directory.path + "/missing", other.path + "/root.pem"])
            #expect(try verdict(usual).isEmpty)
            #expect(usual.sources == [other.path + "/root.pem"])
        }
    }

    @Test("TR.28 Without any file nothing is trusted")
    func nothing() throws {
        let anchors = SystemAnchors(variable: { _ in nil }, files: ["/nonexistent/roots.pem"])
        #expect(try verdict(anchors) == [.missingIssuer] && anchors.index.isEmpty)
        let root = try X509Certificate(chain.root.der())
        let evaluation = TrustEvaluation(
            [root], policies: [.basic], anchors: TrustAnchors { anchors.index }, date: TestChain.date)
        #expect(evaluation.verdict().flaws.map(\.reason) == [.untrustedRoot])
    }

    private func flaws(
        _ policy: TrustPolicy, belowSystem isOfSystem: Bool, _ change: (inout TestChain) -> Void
    ) throws -> [TrustFlaw] {
        let chain = TestChain(change)
        let root = try X509Certificate(chain.root.der())
        let anchors = TrustAnchors(own: isOfSystem ? nil : [root], includesSystem: isOfSystem) {
            CertificateIndex([root])
        }
        return TrustEvaluation(
            try [chain.leaf, chain.authority].map { try X509Certificate($0.der()) }, policies: [policy],
            anchors: anchors, date: TestChain.date
        ).verdict().flaws
    }

    @Test("TR.16 An authority below any anchor is meant for the policy's purpose, if it says what it is meant for")
    func purposeOfAuthority() throws {
        let (server, client) = (TrustPolicy.server(host: nil), TrustPolicy.client(host: nil))
        let (mail, any) = ("1.3.6.1.5.5.7.3.4", "2.5.29.37.0")
        for isOfSystem in [true, false] {
            for (policy, purposes, isMeant) in [
                (server, [CertificateExtensionRecipe.client], false), (server, [.server], true),
                (client, [.server], false), (client, [.client], true),
                (server, [.purposes(mail, critical: true)], false),
                (client, [.purposes(mail)], false), (server, [.purposes(mail, any)], true),
                (client, [.purposes(any)], true), (server, [], true), (.basic, [.purposes(mail)], true),
                (server, [.init("2.5.29.37", Data([0x31, 0x00]))], false),
            ] {
                let flaws = try flaws(policy, belowSystem: isOfSystem) {
                    $0.authority.extensions += purposes
                    $0.leaf.extensions = [
                        .names([.host("leaf.example")]), .purposes("1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2"),
                    ]
                }
                #expect(flaws.contains(TrustFlaw(.otherPurpose, at: 1)) == !isMeant)
                #expect(flaws.isEmpty == isMeant)
            }
            // The top limits nobody.
            #expect(try flaws(server, belowSystem: isOfSystem) { $0.root.extensions.append(.client) }.isEmpty)
        }
    }

    @Test("TR.9 A root of the system is valid for its time alone")
    func expiredRoot() throws {
        for isOfSystem in [true, false] {
            let flaws = try flaws(.server(host: nil), belowSystem: isOfSystem) {
                $0.root.notAfter = TestChain.date - 1
            }
            #expect(flaws == [TrustFlaw(.date, at: 2)])
        }
    }

    @Test("TR.26 Many authorities that certified each other do not keep the search for ever")
    func manyPaths() throws {
        // Ten names with three keys each; every one certifies every one of the next level.
        let keys = [TrustKeys.root, TrustKeys.authority, TrustKeys.other]
        var certificates: [X509Certificate] = []
        for level in 0..<10 {
            for (number, key) in keys.enumerated() {
                for signer in keys {
                    var recipe = CertificateRecipe("\(level)", key, by: ("\(level + 1)", signer))
                    recipe.serial = UInt8(number + 1)
                    recipe.extensions = [.basicConstraints()]
                    certificates.append(try X509Certificate(recipe.der()))
                }
            }
        }
        let leaf = try X509Certificate(
            CertificateRecipe("leaf", TrustKeys.leaf, by: ("0", TrustKeys.root)).der())
        let asked = Mutex(0)
        let evaluation = TrustEvaluation(
            [leaf] + certificates, policies: [.basic], anchors: TrustAnchors { CertificateIndex([]) },
            date: TestChain.date,
            stored: { _ in
                asked.withLock { $0 += 1 }
                return []
            })
        #expect(evaluation.verdict().flaws.first?.reason == .tooMuchWork)
        // Each of the eleven names once: an answer is kept as long as what was found out about it.
        #expect(asked.withLock { $0 } <= 11)
    }

    @Test("TR.27 What was found out about one stored certificate is not taken for another one's")
    func storedTwice() throws {
        // Two authorities of one name are stored: one of the anchor's, and a stranger's, which signed what was sent.
        func certificate(
            _ name: String, _ key: AsymmetricKey, _ issuer: String, _ signer: AsymmetricKey, _ serial: UInt8
        ) throws -> Data {
            var recipe = CertificateRecipe(name, key, by: (issuer, signer))
            recipe.serial = serial
            recipe.extensions = [.basicConstraints()]
            return try recipe.der()
        }
        let (genuine, stranger, sent) = (TrustKeys.authority, TrustKeys.other, TrustKeys.leaf)
        let stored = [
            try certificate("authority", stranger, "authority", stranger, 1),
            try certificate("authority", genuine, "root", TrustKeys.root, 2),
        ]
        var others = [try certificate("level 0", sent, "authority", stranger, 1)]
        for level in 1..<5 {
            let key = TrustKeys.levels[level - 1]
            let signer = level == 1 ? sent : TrustKeys.levels[level - 2]
            for serial: UInt8 in 1...3 {
                others.append(try certificate("level \(level)", key, "level \(level - 1)", signer, serial))
            }
        }
        let leaf = try CertificateRecipe("leaf", TrustKeys.rsa2048, by: ("level 4", TrustKeys.levels[3])).der()
        let anchors = CertificateIndex([try X509Certificate(chain.root.der())])
        for _ in 0..<5 {
            let evaluation = TrustEvaluation(
                try ([leaf] + others).map { try X509Certificate($0) }, policies: [.basic],
                anchors: TrustAnchors { anchors }, date: TestChain.date,
                // Objects of their own each time, as a keychain gives them.
                stored: { name in stored.compactMap { try? X509Certificate($0) }.filter { $0.subjectName == name } })
            #expect(!evaluation.verdict().flaws.isEmpty)
        }
    }
}
