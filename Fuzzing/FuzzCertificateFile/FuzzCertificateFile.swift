import CFuzzer
import Foundation
import KeychainCertificates
import KeychainCrypto
import KeychainKeys
import KeychainModel

/// Files of certificates and keys, the judgement of the certificates, the inside of PKCS#12 files behind a right code, and subjects of requests. Reading may refuse; it may
/// not trap, and what it accepts is the same when it is written and read anew.
@main
struct FuzzCertificateFile {
    static func main() {
        var count = CommandLine.argc
        var arguments = CommandLine.unsafeArgv
        exit(LLVMFuzzerRunDriver(&count, &arguments) { fuzzCertificateFile($0, $1) })
    }
}

/// Under this name too, because libFuzzer's own `main` is linked and looks for it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCertificateFile(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = Data(bytes: start, count: count)
    fuzzFile(input)
    fuzzInside(input)
    fuzzRequest(String(decoding: input, as: UTF8.self))
    return 0
}

private let passphrase = SecretBytes(copying: Data("open".utf8))
/// Behind it the fuzzer would only wait for derivations of keys.
private let mostRounds = 4096

private func fuzzFile(_ input: Data) {
    switch try? CertificateFile(input) {
    case .plain(let certificates, _):
        for certificate in certificates {
            precondition(try! X509Certificate(certificate.der).der == certificate.der, "a certificate was changed")
        }
        judge(certificates)
    case .pkcs12(let file): open(file)
    case nil: break
    }
}

/// The last certificate is the anchor. A verdict comes within the budget, and one that trusts is the same each time.
private func judge(_ certificates: [X509Certificate]) {
    guard let anchor = certificates.last else { return }
    let evaluation = TrustEvaluation(
        certificates, policies: [.server(host: "www.example.org"), .client(host: nil)],
        anchors: TrustAnchors(own: [anchor], includesSystem: false) { CertificateIndex([]) },
        date: certificates[0].validity.notBefore)
    let (verdict, steps) = evaluation.measuredVerdict()
    // What is begun within the budget is ended: one certificate's names with one authority's constraints.
    precondition(steps < 2 * TrustEvaluation.usualSteps, "a judgement took \(steps) steps")
    precondition(evaluation.verdict().flaws == verdict.flaws, "two verdicts about one chain")
}

/// What is wrong inside shows only behind a right code.
private func fuzzInside(_ input: Data) {
    guard
        let code = try? PassphraseCode(for: Array(input), FilePassphrase(passphrase), rounds: 1, SystemRandomness())
    else { fatalError("there is no code") }
    let type = Data([0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01])
    let info = element(0x30, type + element(0xa0, element(0x04, input)))
    let file = element(0x30, Data([0x02, 0x01, 0x03]) + info + Data(try! code.der))
    open(try! PKCS12File(file))
}

private func open(_ file: PKCS12File) {
    guard let content = try? file.open(passphrase, mostRounds: mostRounds), !content.keys.isEmpty else { return }
    let again = try! PKCS12File(content.file(passphrase, rounds: 1)).open(passphrase)
    let keys = again.keys.map(\.key.externalRepresentation)
    precondition(keys == content.keys.map(\.key.externalRepresentation), "a key was changed")
    precondition(
        again.certificates.map(\.certificate.der) == content.certificates.map(\.certificate.der),
        "a certificate was changed")
    precondition(again.identities.count == content.identities.count, "an identity was lost")
}

private let key = try! AsymmetricKey(generating: .ec, bitCount: 256)

private func fuzzRequest(_ text: String) {
    let name = (try? RequestedName(text)) ?? (try! RequestedName(""))
    let names = [
        try? RequestedAlternativeName(host: text), try? RequestedAlternativeName(address: text),
        try? RequestedAlternativeName(mailAddress: text),
    ]
    let request = try! CertificateRequest(subject: name, alternativeNames: names.compactMap(\.self), key: key)
    precondition(try! request.der(signature: Data(count: 64)).first == 0x30, "a request is a SEQUENCE")
}

private func element(_ tag: UInt8, _ content: Data) -> Data {
    let count = content.count
    return Data([
        tag, 0x84, UInt8(count >> 24), UInt8(count >> 16 & 0xff), UInt8(count >> 8 & 0xff), UInt8(count & 0xff),
    ])
        + content
}
