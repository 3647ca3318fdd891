import Foundation
import KeychainTestSupport
import Testing

@testable import KeychainCrypto

/// The functions of the cipher library that are declared and not imported.
@Suite struct BoringSSLTests {
    private let checks: String
    private let declarations: String

    init() throws {
        checks = try String(contentsOf: Repository.file("Sources/CKeychainCrypto/library.c"), encoding: .utf8)
        declarations = try [
            "KeychainCrypto/Primitives/BoringSSL.swift", "KeychainCrypto/Primitives/BoringSSL+Curves.swift",
            "KeychainKeys/BoringSSL+RSA.swift", "KeychainKeys/Files/BoringSSL+KeyFiles.swift",
        ].map { try String(contentsOf: Repository.file("Sources/\($0)"), encoding: .utf8) }.joined()
    }

    @Test("The C compiler compares each function that is declared with the library's header")
    func functions() {
        let declared = declarations.matches(of: /func CCryptoBoringSSL_(\w+)/).map { String($0.1) }
        let compared = checks.matches(of: /\nIS\((\w+),/).map { String($0.1) }
        #expect(!declared.isEmpty)
        #expect(declared == compared)
    }

    @Test("The C compiler compares the memory that is given to each structure with its size")
    func structures() {
        #expect(checks.contains("FITS(EVP_AEAD_CTX, \(LibraryState.cipher));"))
        #expect(checks.contains("FITS(AES_KEY, \(LibraryState.schedule));"))
        #expect(checks.contains("sizeof(SHA256_CTX) <= \(MemoryLayout<SHA256State>.size)"))
    }
}
