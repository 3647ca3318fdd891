import Foundation
import Report
import Security

/// What a certificate says, and a certificate together with its key.
func identities() throws {
    let attributes: [CFString: Any] = [
        kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
    ]
    let bytes = Data(base64Encoded: keyOfCertificate) ?? Data()
    let der = Data(base64Encoded: certificateOfKey, options: .ignoreUnknownCharacters) ?? Data()
    guard let key = SecKeyCreateWithData(bytes as CFData, attributes as CFDictionary, nil),
        let certificate = SecCertificateCreateWithData(nil, der as CFData)
    else { stop("the certificate or its key does not parse") }
    contents(of: certificate, key)
    let former: any FormerCalls = FormerCertificates(certificate: certificate)
    try former.check()
    try identity(certificate, key)
}

private func contents(of certificate: SecCertificate, _ key: SecKey) {
    var name: CFString?
    let status = SecCertificateCopyCommonName(certificate, &name)
    tell("A certificate has a name", status == errSecSuccess && name as String? == "outside")
    var addresses: CFArray?
    tell("And mail addresses", SecCertificateCopyEmailAddresses(certificate, &addresses) == errSecSuccess)
    tell("Which are texts", addresses as? [String] == ["me@example.org"])
    let issuer = SecCertificateCopyNormalizedIssuerSequence(certificate) as Data?
    tell("It has issued itself", issuer == SecCertificateCopyNormalizedSubjectSequence(certificate) as Data?)
    tell("It has its key", SecCertificateCopyKey(certificate) == SecKeyCopyPublicKey(key))
    let begin = SecCertificateCopyNotValidBeforeDate(certificate) as Date?
    let end = SecCertificateCopyNotValidAfterDate(certificate) as Date?
    let seconds = end.flatMap { end in begin.map { end.timeIntervalSince($0) } }
    tell("It is valid for a hundred years", seconds == 3_153_600_000)
}

private func identity(_ certificate: SecCertificate, _ key: SecKey) throws {
    guard let identity = SecIdentityCreate(nil, certificate, key) else {
        stop("certificate and key do not go together")
    }
    let same = SecIdentityCreate(nil, certificate, key)
    tell("Equal identities are equal", identity.isEqual(same) && identity.hash == same?.hash)
    tell("An identity is described: \(identity)", identity.description.contains("outside"))
    tell("It is of its type", CFGetTypeID(identity) == SecIdentityGetTypeID())
    tell("It is stored", SecItemAdd([kSecValueRef: identity] as CFDictionary, nil) == errSecSuccess)
    var result: CFTypeRef?
    let query = [kSecClass: kSecClassIdentity, kSecReturnRef: true] as CFDictionary
    tell("It is found", SecItemCopyMatching(query, &result) == errSecSuccess)
    let found = result as! SecIdentity
    var (itsCertificate, itsKey): (SecCertificate?, SecKey?)
    tell("It has a certificate", SecIdentityCopyCertificate(found, &itsCertificate) == errSecSuccess)
    tell("It has a key", SecIdentityCopyPrivateKey(found, &itsKey) == errSecSuccess)
    tell("They are those", itsCertificate == certificate && itsKey == key)
    var again: SecIdentity?
    let status = SecIdentityCreateWithCertificate(nil, certificate, &again)
    tell("The keychain has the key of the certificate", status == errSecSuccess && again == identity)
    tell("It is deleted", SecItemDelete([kSecValueRef: identity] as CFDictionary) == errSecSuccess)
}

/// Functions that Apple has given other names since.
private struct FormerCertificates: FormerCalls {
    let certificate: SecCertificate

    @available(*, deprecated)
    func check() throws {
        tell("A key by its former name", SecCertificateCopyPublicKey(certificate) == SecCertificateCopyKey(certificate))
        let number = SecCertificateCopySerialNumber(certificate) as Data?
        tell("A number too", number == SecCertificateCopySerialNumberData(certificate, nil) as Data?)
    }
}

/// Made with OpenSSL for this program; the key is for nothing else.
private let keyOfCertificate =
    "BFtrOMXRo47HWjwTIlvuqa4nkXTFxR/1Pdf7qKfN7mlUxaGM7qYhFWZs7hROcgUVeFi4c/26gggP+Ncvh6SXEUoU45MTK9WlhvxX84AbXTwil5zx"
    + "mFCzvwDlessEldBHdQ=="
let certificateOfKey = """
    MIIB3DCCAYKgAwIBAgIUEOLYzBNq6fgHMIWgCtDmp7FXCJwwCgYIKoZIzj0EAwIwNTELMAkGA1UEBhMCQ0gxFDASBgNVBAoMC0V4
    YW1wbGUgTHRkMRAwDgYDVQQDDAdvdXRzaWRlMCAXDTI2MTEyNTAyNDIzMloYDzIxMjYxMTAxMDI0MjMyWjA1MQswCQYDVQQGEwJD
    SDEUMBIGA1UECgwLRXhhbXBsZSBMdGQxEDAOBgNVBAMMB291dHNpZGUwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARbazjF0aOO
    x1o8EyJb7qmuJ5F0xcUf9T3X+6inze5pVMWhjO6mIRVmbO4UTnIFFXhYuHP9uoIID/jXL4eklxFKo24wbDAdBgNVHQ4EFgQUzOgG
    SZ2/jnIugoq8xHW5hWgeQE4wHwYDVR0jBBgwFoAUzOgGSZ2/jnIugoq8xHW5hWgeQE4wDwYDVR0TAQH/BAUwAwEB/zAZBgNVHREE
    EjAQgQ5tZUBleGFtcGxlLm9yZzAKBggqhkjOPQQDAgNIADBFAiAUnunxA+R/sQ+VR8IqXPrOfWEczC9OvdPWdRMthhUZqAIhAN7r
    svXyELiyek9soUU/HUCMJtJfSUkbQdfYpihBx+mA
    """
