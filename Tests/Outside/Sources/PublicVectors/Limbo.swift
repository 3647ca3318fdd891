import Foundation
import Security

/// The cases of C2SP/x509-limbo: chains, and whether a client or a server may accept them.
struct Limbo: Decodable {
    let testcases: [Case]

    struct Case: Decodable {
        let id: String
        let validation_kind: String
        let trusted_certs: [String]
        let untrusted_intermediates: [String]
        let peer_certificate: String
        let validation_time: String?
        let expected_result: String
        let expected_peer_name: Name?

        struct Name: Decodable {
            let kind: String
            let value: String
        }
    }

    /// A case that ends otherwise than expected, and why: `ID | accepted | FAILURE | REASON`.
    private struct Exception {
        let ours: String
        let expected: String
    }

    /// - Throws: if a case ends otherwise and is no exception, or if an exception ends as expected.
    static func judge(_ file: URL, exceptions: URL) throws {
        let cases = try JSONDecoder().decode(Limbo.self, from: Data(contentsOf: file)).testcases
        var exceptions = try self.exceptions(exceptions)
        var faults: [String] = []
        var agreeing = 0
        for one in cases {
            let ours = try one.isAccepted ? "accepted" : "refused"
            let agrees = (ours == "accepted") == (one.expected_result == "SUCCESS")
            let exception = exceptions.removeValue(forKey: one.id)
            switch (agrees, exception) {
            case (true, nil): agreeing += 1
            case (true, _?): faults.append("\(one.id) ends as expected now: it is to leave the exceptions")
            case (false, let exception?) where exception.ours == ours && exception.expected == one.expected_result:
                break
            case (false, _): faults.append("\(one.id) | \(ours) | \(one.expected_result) | REASON")
            }
        }
        faults += exceptions.keys.map { "there is no case \($0)" }
        print("x509-limbo: \(cases.count) cases, \(agreeing) as expected, \(cases.count - agreeing) exceptions")
        if !faults.isEmpty || cases.count != 208 { stop("x509-limbo\n" + faults.joined(separator: "\n")) }
    }

    private static func exceptions(_ file: URL) throws -> [String: Exception] {
        var exceptions: [String: Exception] = [:]
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") where !line.hasPrefix("#") {
            let fields = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard fields.count == 4, !fields[3].isEmpty, exceptions[fields[0]] == nil else {
                stop("no exception: \(line)")
            }
            exceptions[fields[0]] = Exception(ours: fields[1], expected: fields[2])
        }
        return exceptions
    }
}

extension Limbo.Case {
    var isAccepted: Bool {
        get throws {
            guard let peer = Self.certificate(peer_certificate) else { return false }
            let host = expected_peer_name.flatMap { ["DNS", "IP"].contains($0.kind) ? $0.value as NSString : nil }
            let certificates = [peer] + untrusted_intermediates.compactMap(Self.certificate)
            var trust: SecTrust?
            let policy = SecPolicyCreateSSL(validation_kind == "SERVER", host)
            guard SecTrustCreateWithCertificates(certificates as NSArray, policy, &trust) == errSecSuccess, let trust
            else {
                stop("\(id): no object")
            }
            SecTrustSetAnchorCertificates(trust, trusted_certs.compactMap(Self.certificate) as NSArray)
            SecTrustSetVerifyDate(trust, try date as NSDate)
            return SecTrustEvaluateWithError(trust, nil)
        }
    }

    /// A case without a time holds at every time of its certificates.
    private var date: Date {
        get throws {
            guard let validation_time else { return Date(timeIntervalSince1970: 1_735_689_600) }
            let style = Date.ISO8601FormatStyle(includingFractionalSeconds: validation_time.contains("."))
            return try Date(validation_time, strategy: style)
        }
    }

    private static func certificate(_ pem: String) -> SecCertificate? {
        let lines = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }
        guard let der = Data(base64Encoded: lines.joined()) else { stop("no PEM") }
        return SecCertificateCreateWithData(nil, der as NSData)
    }
}
