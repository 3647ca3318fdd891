import CFuzzer
import Foundation
import KeychainCertificates
import KeychainKeys
import KeychainModel
import KeychainSecurity
import KeychainTransfer

/// Files of keys, as other programs make them, keys for one-time codes, lengths of time, certificates, signatures and
/// ciphertexts. Reading may refuse; it may not trap, and
/// what it accepts is the same key or certificate when it is written in any form and read anew.
@main
struct FuzzKeyFile {
    static func main() {
        var count = CommandLine.argc
        var arguments = CommandLine.unsafeArgv
        exit(LLVMFuzzerRunDriver(&count, &arguments) { fuzzKeyFile($0, $1) })
    }
}

/// Under this name too, because libFuzzer's own `main` is linked and looks for it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzKeyFile(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = Data(bytes: start, count: count)
    fuzzCertificate(input)
    fuzzTrust(input)
    fuzzUse(input)
    fuzzText(input)
    switch try? KeyFile(input) {
    case .key(let key): fuzz(key)
    // Opening takes as long as the input asks for, and what comes out is no input of the fuzzer's.
    case .encrypted, nil: break
    }
    return 0
}

/// What people and sites write: `otpauth://` URIs, and "45s".
private func fuzzText(_ input: Data) {
    if let seconds = DurationText.seconds(String(decoding: input, as: UTF8.self)) {
        precondition(seconds >= 0 && !DurationText.text(seconds: seconds).isEmpty, "a length is negative")
    }
    input.withUnsafeBytes { bytes in
        if let range = OneTimeKey.range(in: bytes) {
            precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count, "a line is outside of its text")
        }
        guard let key = try? OneTimeKey(text: bytes) else { return }
        for seconds: UInt64 in [0, 59, .max] {
            let code = key.code(at: seconds)
            precondition(code.utf8.count == key.digitCount && UInt64(code) != nil, "a code is no number")
            precondition((1...key.period).contains(key.secondsLeft(at: seconds)), "a code has no time left")
        }
    }
}

private func fuzz(_ key: AsymmetricKey) {
    for format in KeyFileFormat.allCases where format != .jwk {
        guard case .key(let again) = try! KeyFile(format.bytes(of: key)) else { fatalError("a passphrase was added") }
        precondition(again.publicBytes == key.publicBytes, "the key was changed")
        precondition(again.isPrivate == (key.isPrivate && format != .spki), "the half was changed")
    }
    _ = try! KeyFileFormat.jwk.bytes(of: key)
}

private func fuzzCertificate(_ input: Data) {
    guard let certificate = SecCertificateCreateWithData(nil, input as NSData) else { return }
    let bytes = SecCertificateCopyData(certificate)
    precondition(input.starts(with: bytes as Data), "the certificate was changed")
    precondition(SecCertificateCreateWithData(nil, bytes) == certificate, "the certificate is another one")
    var name: CFString?
    var addresses: CFArray?
    _ = SecCertificateCopyCommonName(certificate, &name)
    _ = SecCertificateCopyEmailAddresses(certificate, &addresses)
    _ = SecCertificateCopySubjectSummary(certificate)
    _ = SecCertificateCopyNormalizedIssuerSequence(certificate)
    _ = SecCertificateCopyNormalizedSubjectSequence(certificate)
    _ = SecCertificateCopyNotValidBeforeDate(certificate)
    _ = SecCertificateCopyNotValidAfterDate(certificate)
    _ = SecCertificateCopyKey(certificate)
}

/// Without an anchor nothing is trusted. As its own anchor a certificate is a chain, and has flaws or none.
private func fuzzTrust(_ input: Data) {
    guard let certificate = try? X509Certificate(input) else { return }
    let policies: [TrustPolicy] = [.basic, .server(host: "host.example"), .client(host: "::1")]
    var evaluation = TrustEvaluation(
        [certificate, certificate], policies: policies, anchors: TrustAnchors { CertificateIndex([]) }, date: Date())
    precondition(!evaluation.verdict().flaws.isEmpty, "a certificate is trusted without anchors")
    evaluation.anchors.own = [certificate]
    precondition(evaluation.verdict().chain.count == 1, "an anchor is no chain by itself")
    for policy in policies { _ = certificate.flawsOfLeaf(policy, Date()) }
}

private let pair: SecKey = {
    let parameters: [CFString: Any] = [kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256]
    return SecKeyCreateRandomKey(parameters as CFDictionary, nil)!
}()
private let publicHalf = SecKeyCopyPublicKey(pair)!

/// What nobody has signed or encrypted with this pair is no signature and no ciphertext.
private func fuzzUse(_ input: Data) {
    let bytes = input as NSData
    for algorithm in [SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256, .ecdsaSignatureMessageRFC4754SHA256] {
        precondition(!SecKeyVerifySignature(publicHalf, algorithm, bytes, bytes, nil), "anything is a signature")
    }
    let plaintext = SecKeyCreateDecryptedData(pair, .eciesEncryptionStandardX963SHA256AESGCM, bytes, nil)
    precondition(plaintext == nil, "anything is a ciphertext")
}
