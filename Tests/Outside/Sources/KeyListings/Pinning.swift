import Foundation
import Report
import Security

/// Trusts a server whose key is known, besides all that its chain has to be.
struct Pinning {
    /// Keys as `SecKeyCopyExternalRepresentation` gives them, of certificates that come with the app.
    let keys: Set<Data>

    init(certificates: [Data]) {
        keys = Set(
            certificates.compactMap { SecCertificateCreateWithData(nil, $0 as CFData) }
                .compactMap { SecCertificateCopyKey($0) }
                .compactMap { SecKeyCopyExternalRepresentation($0, nil) as Data? })
    }

    func accepts(_ trust: SecTrust, host: String) -> Bool {
        SecTrustSetPolicies(trust, SecPolicyCreateSSL(true, host as CFString))
        guard SecTrustEvaluateWithError(trust, nil) else { return false }
        let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate] ?? []
        return chain.contains { certificate in
            guard let key = SecCertificateCopyKey(certificate),
                let bytes = SecKeyCopyExternalRepresentation(key, nil) as Data?
            else { return false }
            return keys.contains(bytes)
        }
    }
}

/// Trusts the servers of one authority, whose certificate comes with the app.
struct OwnAuthority {
    let certificates: [SecCertificate]

    func trust(_ chain: [SecCertificate], host: String, at date: Date) throws -> SecTrust {
        var trust: SecTrust?
        let policy = SecPolicyCreateSSL(true, host as CFString)
        let status = SecTrustCreateWithCertificates(chain as CFArray, policy, &trust)
        guard status == errSecSuccess, let trust else { throw KeyStoreError(status: status) }
        SecTrustSetAnchorCertificates(trust, certificates as CFArray)
        SecTrustSetAnchorCertificatesOnly(trust, true)
        SecTrustSetVerifyDate(trust, date as CFDate)
        return trust
    }
}

func judgeServers() throws {
    let (authority, server) = (Data(base64Lines: authorityCertificate), Data(base64Lines: serverCertificate))
    let chain = [server].compactMap { SecCertificateCreateWithData(nil, $0 as CFData) }
    let own = OwnAuthority(certificates: [authority].compactMap { SecCertificateCreateWithData(nil, $0 as CFData) })
    let date = Date(timeIntervalSince1970: 1_798_761_600)
    var error: CFError?
    let trust = try own.trust(chain, host: "api.example", at: date)
    tell("Our own authority is trusted", SecTrustEvaluateWithError(trust, &error))
    let other = try own.trust(chain, host: "other.example", at: date)
    tell("For its hosts alone", !SecTrustEvaluateWithError(other, &error) && error?.code == -67602)
    let late = try own.trust(chain, host: "api.example", at: .distantFuture)
    tell("And for a time", !SecTrustEvaluateWithError(late, &error) && error?.code == -67818)
    SecTrustSetAnchorCertificates(trust, nil)
    tell("The system does not know it", !SecTrustEvaluateWithError(trust, &error) && error?.code == -25318)

    let known = Pinning(certificates: [server])
    try tell("A known key is accepted", known.accepts(own.trust(chain, host: "", at: date), host: "api.example"))
    let unknown = Pinning(certificates: [])
    try tell("Another is not", !unknown.accepts(own.trust(chain, host: "", at: date), host: "api.example"))
    try tell("Nor for another host", !known.accepts(own.trust(chain, host: "", at: date), host: "other.example"))
}

extension Data {
    fileprivate init(base64Lines text: String) {
        self = Data(base64Encoded: text, options: .ignoreUnknownCharacters) ?? Data()
    }
}

/// `CN=Example Authority`, until 2126.
private let authorityCertificate = """
    MIIBnzCCAUWgAwIBAgIUMX8ljfo/m52nY9BxMvRLnSGat/IwCgYIKoZIzj0EAwIwHDEaMBgGA1UEAwwRRXhhbXBsZSBBdXRob3Jp
    dHkwIBcNMjYxMTI1MDQ0MzIxWhgPMjEyNjExMDEwNDQzMjFaMBwxGjAYBgNVBAMMEUV4YW1wbGUgQXV0aG9yaXR5MFkwEwYHKoZI
    zj0CAQYIKoZIzj0DAQcDQgAEdnTcDYsazwuHpKh5BbIQEhMTAEzLUNTq7Hm8PS5sSjfkBOMFx0+VqSBxi7GQ/NDvg68u1sERlVlP
    vkogjFo1iqNjMGEwHQYDVR0OBBYEFJMzpLzqtAZnVQlbUADS85GB+HI8MB8GA1UdIwQYMBaAFJMzpLzqtAZnVQlbUADS85GB+HI8
    MA8GA1UdEwEB/wQFMAMBAf8wDgYDVR0PAQH/BAQDAgIEMAoGCCqGSM49BAMCA0gAMEUCIQCKdJPr8HlQ+9AkCnbFYUkm3LrCFBo8
    M8SDUqrNRImowwIgUUYfxE5e/pprkNgmEISZkACK4LC5ex2vjRePcY/u624=
    """

/// `CN=api` for `api.example`, until February 2029.
private let serverCertificate = """
    MIIBpTCCAUygAwIBAgIUf8zgO9H/2875Cwm0N8EwbdDlFY8wCgYIKoZIzj0EAwIwHDEaMBgGA1UEAwwRRXhhbXBsZSBBdXRob3Jp
    dHkwHhcNMjYxMTI1MDQ0MzIxWhcNMjkwMjAyMDQ0MzIxWjAOMQwwCgYDVQQDDANhcGkwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
    AARWQYtxTfhxKNcgu0zPcQjNePWsIcjmxp7+RHsNKsW4ZoC38TOne3vQLoVQ+p14ex9wyrkvwK3Kl7TVGCFWDD+io3oweDAWBgNV
    HREEDzANggthcGkuZXhhbXBsZTATBgNVHSUEDDAKBggrBgEFBQcDATAJBgNVHRMEAjAAMB0GA1UdDgQWBBSO2PmWbAJJ+Bw4qkUK
    drQI3G5J7TAfBgNVHSMEGDAWgBSTM6S86rQGZ1UJW1AA0vORgfhyPDAKBggqhkjOPQQDAgNHADBEAiBpOua1iHwWliitIJlr/l8U
    STqflJfUi+gtYwP/hBQS9AIgamkwcjciAODQKWpU81LbCkTGzYH2EwTux2zbTovmYo4=
    """
