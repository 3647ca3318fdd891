// Uses everything public of the module KeychainSecurity once, on the keychain that the environment names.

import Foundation
import Report
import Security

await report {
    Constants.check()
    try CoreFoundationCalls.check()
    try passwords()
    try certificates()
    try identities()
    try imports()
    try await trust()
    try Keys.check()
    try accessControls()
    try randomBytes()
}

/// A password is added, found, changed and deleted.
func passwords() throws {
    let query: [CFString: Any] = [
        kSecClass: kSecClassGenericPassword, kSecAttrService: "mail.example", kSecAttrAccount: "ada",
    ]
    let item = query.merging([kSecValueData: Data("first".utf8), kSecAttrLabel: "Mail"]) { $1 }
    tell("It is added", SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
    tell("Once", SecItemAdd(item as CFDictionary, nil) == errSecDuplicateItem)
    let change: [CFString: Any] = [kSecValueData: Data("second".utf8)]
    tell("It is changed", SecItemUpdate(query as CFDictionary, change as CFDictionary) == errSecSuccess)
    var result: CFTypeRef?
    let search = query.merging([kSecReturnData: true, kSecReturnAttributes: true]) { $1 }
    let status: OSStatus = SecItemCopyMatching(search as CFDictionary, &result)
    let found = result as? [String: Any] ?? [:]
    tell("It is found", status == errSecSuccess && found[kSecValueData as String] as? Data == Data("second".utf8))
    tell("It keeps its label", found[kSecAttrLabel as String] as? String == "Mail")
    tell("It is deleted", SecItemDelete(query as CFDictionary) == errSecSuccess)
    tell("It is gone", SecItemDelete(query as CFDictionary) == errSecItemNotFound)
    let text = SecCopyErrorMessageString(errSecItemNotFound, nil) as String?
    tell("The status is explained: \(text ?? "")", text?.isEmpty == false)
}

/// A certificate is read.
func certificates() throws {
    let der = Data(base64Encoded: Fixture.certificate, options: .ignoreUnknownCharacters) ?? Data()
    guard let certificate: SecCertificate = SecCertificateCreateWithData(kCFAllocatorDefault, der as CFData) else {
        stop("the certificate does not parse")
    }
    tell("A certificate has its bytes", SecCertificateCopyData(certificate) as Data == der)
    tell("It has a subject", SecCertificateCopySubjectSummary(certificate) as String? == "Example Ltd")
    tell("It has a number", SecCertificateCopySerialNumberData(certificate, nil) as Data? == Data([7]))
    tell("Of no other bytes is one made", SecCertificateCreateWithData(nil, CFData()) == nil)
    let same = SecCertificateCreateWithData(nil, der as CFData)
    tell("The same bytes are the same", certificate.isEqual(same) && certificate.hash == same?.hash)
    tell("It is described: \(certificate)", certificate.description.contains("Example Ltd"))
    tell("It is of its type", CFGetTypeID(certificate) == SecCertificateGetTypeID())
}

/// What an item asks for before it is given out.
func accessControls() throws {
    let flags: [SecAccessControlCreateFlags] = [
        .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .companion, .or, .and, .privateKeyUsage,
        .applicationPassword,
    ]
    tell("Flags are told apart", Set(flags.map(\.rawValue)).count == flags.count)
    let older: [SecAccessControlCreateFlags] = [.touchIDAny, .touchIDCurrentSet, .watch]
    tell("Flags have their older names", older == [.biometryAny, .biometryCurrentSet, .companion])
    tell("A flag is a bit", SecAccessControlCreateFlags(rawValue: 1) == .userPresence)
    func control(_ flags: SecAccessControlCreateFlags) -> SecAccessControl? {
        SecAccessControlCreateWithFlags(kCFAllocatorDefault, kSecAttrAccessibleWhenUnlocked, flags, nil)
    }
    guard let presence = control(.userPresence) else { stop("an access control is refused") }
    let same = control(.userPresence)
    tell("Equal ones are equal", presence.isEqual(same) && presence.hash == same?.hash)
    tell("It is described: \(presence)", presence.description.contains("SecAccessControl"))
    var error: Unmanaged<CFError>?
    let impossible = SecAccessControlCreateWithFlags(nil, "no accessibility" as CFString, [], &error)
    let code = error.map { CFErrorGetCode($0.takeRetainedValue()) }
    tell("An accessibility that is none is refused", impossible == nil && code == CFIndex(errSecParam))
}

/// Bytes that nobody can guess.
func randomBytes() throws {
    var bytes = [UInt8](repeating: 0, count: 32)
    let source: SecRandomRef? = kSecRandomDefault
    let status = bytes.withUnsafeMutableBytes { bytes in
        bytes.baseAddress.map { SecRandomCopyBytes(source, bytes.count, $0) }
    }
    tell("Bytes are random", status == errSecSuccess && bytes != [UInt8](repeating: 0, count: 32))
}
