internal import KeychainModel
internal import SwiftASN1

/// Why a file's encryption is not tried. Each kind of file says it in its own words.
enum PassphraseFlaw: Error {
    /// The object identifier of a scheme, a cipher or a function that is not known here.
    case unknown(String)
    /// The file asks for more work than it is worth. The text says how much.
    case tooExpensive(String)
    case damaged

    /// Reads part of a PKCS#12 file, which is BER.
    ///
    /// - Throws: `.decode` for every fault.
    static func reading<Result>(
        _ bytes: ArraySlice<UInt8>, _ body: (ASN1Node) throws -> Result
    ) throws(KeychainError) -> Result {
        do {
            return try body(BER.parse(bytes))
        } catch let flaw as PassphraseFlaw {
            throw flaw.error
        } catch {
            throw PassphraseFlaw.damaged.error
        }
    }

    private var error: KeychainError {
        switch self {
        case .unknown(let scheme):
            KeychainError(
                .decode,
                message: "the file is under a passphrase by the algorithm \(scheme), which is not known here: "
                    + "'openssl pkcs12' reads it and writes it anew")
        case .tooExpensive(let work):
            KeychainError(.decode, message: "the passphrase of the file asks for \(work)")
        case .damaged: KeychainError(.decode, message: "the file's encryption is damaged")
        }
    }
}
