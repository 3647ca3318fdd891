import Foundation
import KeychainCrypto
import KeychainKeys
import KeychainTestSupport

/// A chain that is made by lot from what certificates may say, right or wrong.
struct RandomChain {
    /// The leaf first, the root last.
    private(set) var certificates: [CertificateRecipe]
    /// Other certificates of the same authorities.
    private(set) var others: [CertificateRecipe] = []
    /// The reasons for which the verdicts about the chain may differ.
    private(set) var differences: Set<Difference> = []
    let isForServers: Bool

    /// Each is a rule of one side that the other has not.
    enum Difference: String, CaseIterable {
        case purposeMissing = "since July 2019 a server's certificate says its purpose"
        case anyPurpose = "OpenSSL takes \"any\" for no purpose"
        case purposeOfRoot = "OpenSSL looks at the purposes of the root"
        case usageOfLeaf = "OpenSSL looks at what the leaf's key may be used for"
        case formerDigest = "SHA-1 is refused of servers"
        case smallKey = "servers have RSA keys of 2,048 bits"
        case longValidity = "servers have certificates for at most 825 days"
        case partialWildcard = "a wildcard is a whole label"
        case commonName = "a common name is no host"
        case constraintsOfRoot =
            "a root of version 3 says that it is an authority's; OpenSSL takes its key's usage for that"
        case unreadDuplicate = "an extension stands once in a certificate, also one that OpenSSL does not read"
        case identifierOfRoot = "OpenSSL takes no root that names another key than its own"
        case signatureOfRoot = "OpenSSL takes no root whose signature is of another kind than its key"
        case onePath = "OpenSSL does not go back where it chose one of several certificates of an authority"

        /// Whether ours is the side that refuses.
        var isRefusedHere: Bool {
            switch self {
            case .anyPurpose, .purposeOfRoot, .usageOfLeaf, .signatureOfRoot, .identifierOfRoot, .onePath: false
            default: true
            }
        }
    }

    static let host = "leaf.home.example"
    private static let keys = [TrustKeys.root, TrustKeys.authority, TrustKeys.other] + TrustKeys.levels

    /// - Parameter name: Part of each name, so that chains can be judged together.
    init(named name: String, isForServers: Bool, by lot: inout SeededGenerator) {
        self.isForServers = isForServers
        let levels = 2 + lot.below(3)
        certificates = (0..<levels).map { level in
            let issuer = min(level + 1, levels - 1)
            let (key, signer) = (level == 0 ? TrustKeys.leaf : Self.keys[level], Self.keys[issuer])
            return CertificateRecipe("\(name) \(level)", key, by: ("\(name) \(issuer)", signer))
        }
        certificates[0].extensions = [.names([.host(Self.host)]), isForServers ? .server : .client]
        for level in 1..<levels { certificates[level].extensions = [.basicConstraints(), .keyUsage(0x04)] }
        for _ in 0..<lot.below(4) { change(lot.below(16), lot.below(levels), &lot) }
        cross(name, &lot)
    }

    private var root: Int { certificates.count - 1 }

    // MARK: What the lot changes

    private mutating func change(_ kind: Int, _ level: Int, _ lot: inout SeededGenerator) {
        let authority = max(1, level)
        switch kind {
        case 0: certificates[level].notAfter = TestChain.date - 1
        case 1: certificates[level].notBefore = TestChain.date + 1
        case 2: changePurposes(level, &lot)
        case 3:
            let choices: [CertificateExtensionRecipe?] = [
                nil, .basicConstraints(isAuthority: false), .basicConstraints(0), .basicConstraints(1),
            ]
            let choice = lot.below(choices.count)
            replace(authority, "2.5.29.19", choices[choice])
            if authority == root, choice == 0 { differences.insert(.constraintsOfRoot) }
        case 4: changeUsage(level, &lot)
        case 5: certificates[authority].extensions.append(constraints(&lot))
        case 6: changeNames(&lot)
        case 7:
            certificates[level].signer = TrustKeys.rsa2048
            if level == root { differences.insert(.signatureOfRoot) }
        case 8: changeDigest(level)
        case 9: certificates[level].innerDigest = .sha1
        case 10:
            if certificates[level].extensions.contains(where: { $0.identifier == "1.2.3.4" }) {
                differences.insert(.unreadDuplicate)
            }
            certificates[level].extensions.append(.init("1.2.3.4", critical: lot.below(2) == 0, Data([5, 0])))
        case 11:
            let last = certificates[level].extensions.suffix(1)
            certificates[level].extensions += last
            if level == root || last.first?.identifier == "1.2.3.4" { differences.insert(.unreadDuplicate) }
        case 12: changeIdentifiers(level, &lot)
        case 13: changePolicies(level, &lot)
        case 14: selfIssue(authority)
        default: changeLeafKey(&lot)
        }
    }

    private mutating func replace(_ level: Int, _ identifier: String, _ new: CertificateExtensionRecipe?) {
        certificates[level].extensions.removeAll { $0.identifier == identifier }
        if let new { certificates[level].extensions.append(new) }
    }

    private mutating func changePurposes(_ level: Int, _ lot: inout SeededGenerator) {
        let (server, client) = ("1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2")
        let (mail, any) = ("1.3.6.1.5.5.7.3.4", "2.5.29.37.0")
        let isCritical = lot.below(2) == 0
        let choices: [CertificateExtensionRecipe?] = [
            nil, .purposes(server, critical: isCritical), .purposes(client, critical: isCritical),
            .purposes(server, client, critical: isCritical), .purposes(mail, critical: isCritical),
            .purposes(any, critical: isCritical),
        ]
        let choice = lot.below(choices.count)
        replace(level, "2.5.29.37", choices[choice])
        if choice == 0, level == 0 { differences.insert(.purposeMissing) }
        if choice == 5 { differences.insert(.anyPurpose) }
        if level == root { differences.insert(.purposeOfRoot) }
    }

    private mutating func changeUsage(_ level: Int, _ lot: inout SeededGenerator) {
        replace(level, "2.5.29.15", [nil, .keyUsage(0x04), .keyUsage(0x80), .keyUsage(0x84)][lot.below(4)])
        if level == 0 { differences.insert(.usageOfLeaf) }
    }

    private func constraints(_ lot: inout SeededGenerator) -> CertificateExtensionRecipe {
        let names: [CertificateExtensionRecipe.Name] = [
            .host("example"), .host("leaf.home.example"), .host("other"), .host(""), .host("me.example"),
            .emailAddress("example"), .address([10, 0, 0, 0, 255, 0, 0, 0]), .address([127, 0, 0, 0, 255, 0, 0, 0]),
            .directory("other"), .uri("example"),
        ]
        let (one, other) = (names[lot.below(names.count)], names[lot.below(names.count)])
        switch lot.below(3) {
        case 0: return .nameConstraints(permitted: [one])
        case 1: return .nameConstraints(excluded: [one])
        default: return .nameConstraints(permitted: [one], excluded: [other])
        }
    }

    private mutating func changeNames(_ lot: inout SeededGenerator) {
        let choices: [[CertificateExtensionRecipe.Name]] = [
            [.host("*.home.example")], [.host("LEAF.home.example")], [.host("other.example")],
            [.host("leaf.home.example"), .address([10, 1, 2, 3])],
            [.host("leaf.home.example"), .emailAddress("a@example")],
            [.host("leaf.home.example"), .emailAddress("a@other")],
            [.host("leaf.home.example"), .uri("https://example/")],
            [.address([127, 0, 0, 1])], [.host("leaf.home.example"), .host("*.leaf.home.example")],
            [.host("le*.home.example")],
        ]
        let choice = lot.below(choices.count + 1)
        replace(0, "2.5.29.17", choice < choices.count ? .names(choices[choice]) : nil)
        if choice == 9 { differences.insert(.partialWildcard) }
        if choice == choices.count {
            certificates[0].subject = Self.host
            differences.insert(.commonName)
        }
    }

    private mutating func changeDigest(_ level: Int) {
        certificates[level].digest = .sha1
        if level < root { differences.insert(.formerDigest) }
    }

    private mutating func changeIdentifiers(_ level: Int, _ lot: inout SeededGenerator) {
        let issuer = min(level + 1, root)
        certificates[level].extensions.append(.authorityKeyIdentifier(Data([UInt8(lot.below(2))])))
        if level == root { differences.insert(.identifierOfRoot) }
        if issuer != level { certificates[issuer].extensions.append(.subjectKeyIdentifier(Data([0]))) }
    }

    private mutating func changePolicies(_ level: Int, _ lot: inout SeededGenerator) {
        if level > 0 { replace(level, "2.5.29.36", .requireExplicitPolicy(UInt8(lot.below(3)))) }
        for level in certificates.indices where lot.below(3) > 0 {
            replace(level, "2.5.29.32", .policies("1.2.\(3 + lot.below(2))"))
        }
    }

    /// An authority has a new key, which it certified with the old one.
    private mutating func selfIssue(_ level: Int) {
        guard level < root else { return }
        if certificates.contains(where: { $0.serial == 9 }) { differences.insert(.onePath) }
        var new = certificates[level]
        (new.issuer, new.signer, new.serial) = (new.subject, new.key, 9)
        new.key = TrustKeys.rsa2048
        certificates[level - 1].signer = new.key
        certificates.insert(new, at: level)
    }

    private mutating func changeLeafKey(_ lot: inout SeededGenerator) {
        if lot.below(2) == 0 {
            certificates[0].key = TrustKeys.rsa1024
            differences.insert(.smallKey)
        } else {
            certificates[0].notAfter = certificates[0].notBefore + 826 * 86_400
            differences.insert(.longValidity)
        }
    }

    /// Authorities have further certificates: of a root that is not known, or of a time that is over.
    private mutating func cross(_ name: String, _ lot: inout SeededGenerator) {
        for level in certificates.indices.dropFirst() where lot.below(4) == 0 {
            var other = certificates[level]
            other.serial = 100 + UInt8(level)
            if lot.below(2) == 0 {
                (other.issuer, other.signer) = ("\(name) nobody", TrustKeys.rsa2048)
            } else {
                other.notAfter = TestChain.date - 1
            }
            // A root that is sent along, and is no anchor, has to differ from the anchor.
            others.append(other)
        }
    }
}

extension RandomChain: CustomStringConvertible {
    var description: String {
        (certificates + others).map { one in
            let extensions = one.extensions.map { "\($0.identifier)=\($0.content.base64EncodedString())" }
            let fields = [
                one.subject ?? "", "by", one.issuer ?? "", "\(one.notBefore)", "\(one.notAfter)", "\(one.digest)",
            ]
            return (fields + ["\(one.signer.kind)"] + extensions).joined(separator: " ")
        }.joined(separator: "\n")
    }
}
