import Dispatch
import Foundation
import NIOCore
import NIOSSL
import Security

/// Judges the other side of a connection as an app on Apple's platforms does: with a policy, and one authority of its own.
struct PeerRules: Sendable {
    enum Peer {
        case client
        case server(host: String)
    }

    struct NoCertificate: LocalizedError {
        let path: String

        var errorDescription: String? { "\(path) has no certificate in PEM" }
    }

    private let authority: SecCertificate
    private let policy: SecPolicy

    /// - Parameter authority: The path of a certificate in PEM.
    init(authority path: String, peer: Peer) throws {
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        let base64 = lines.filter { !$0.hasPrefix("-----") }.joined()
        guard let bytes = Data(base64Encoded: base64),
            let authority = SecCertificateCreateWithData(nil, bytes as CFData)
        else { throw NoCertificate(path: path) }
        self.authority = authority
        policy =
            switch peer {
            case .client: SecPolicyCreateSSL(false, nil)
            case .server(let host): SecPolicyCreateSSL(true, host as CFString)
            }
    }

    /// Judges a chain, and says who the peer is.
    func judge(_ chain: [NIOSSLCertificate]) throws -> String {
        let certificates = try chain.map { SecCertificateCreateWithData(nil, Data(try $0.toDERBytes()) as CFData)! }
        var trust: SecTrust?
        let status = SecTrustCreateWithCertificates(certificates as CFArray, policy, &trust)
        guard status == errSecSuccess, let trust else { throw Identity.Failure(status: status) }
        SecTrustSetAnchorCertificates(trust, [authority] as CFArray)
        var error: CFError?
        guard SecTrustEvaluateWithError(trust, &error) else { throw error! as Error }
        return SecCertificateCopySubjectSummary(certificates[0]) as String? ?? "nobody"
    }

    /// For NIOSSL. The keychain may be asked for certificates, so the judgement waits on no event loop.
    ///
    /// - Parameter accept: Called on the event loop of the connection, with the name of a peer that is trusted.
    func callback(_ accept: @escaping @Sendable (String) -> Void) -> NIOSSLCustomVerificationCallback {
        { chain, promise in
            DispatchQueue.global().async {
                let name = Result { try judge(chain) }
                promise.futureResult.eventLoop.execute {
                    switch name {
                    case .success(let name):
                        accept(name)
                        promise.succeed(.certificateVerified)
                    case .failure(let error):
                        FileHandle.standardError.write(Data("refused: \(error.localizedDescription)\n".utf8))
                        promise.succeed(.failed)
                    }
                }
            }
        }
    }
}
