internal import Glibc
package import KeychainModel
internal import SwiftASN1

/// A name of a subject besides its distinguished one (RFC 5280, section 4.2.1.6).
package enum RequestedAlternativeName: Sendable, Hashable {
    case host(String)
    case mailAddress(String)
    /// Four bytes, or sixteen.
    case address([UInt8])

    /// - Parameter host: ASCII, perhaps with a star as its first part.
    /// - Throws: `.parameter` for anything else.
    package init(host: String) throws(KeychainError) {
        guard host.utf8.count <= 253, host.wholeMatch(of: /(\*\.)?[A-Za-z0-9_\-]{1,63}(\.[A-Za-z0-9_\-]{1,63})*/) != nil
        else {
            throw KeychainError(
                .parameter,
                message: "'\(host)' is no name of a host; one in other letters is written in ASCII, as xn--…")
        }
        self = .host(host)
    }

    package init(mailAddress: String) throws(KeychainError) {
        guard mailAddress.wholeMatch(of: /[!-?A-~]+@[A-Za-z0-9.\-]+/) != nil else {
            throw KeychainError(.parameter, message: "'\(mailAddress)' is no mail address in ASCII")
        }
        self = .mailAddress(mailAddress)
    }

    /// - Parameter address: IPv4 or IPv6.
    package init(address: String) throws(KeychainError) {
        var (four, sixteen) = (in_addr(), in6_addr())
        if inet_pton(AF_INET, address, &four) == 1 {
            self = .address(withUnsafeBytes(of: four) { Array($0) })
        } else if inet_pton(AF_INET6, address, &sixteen) == 1 {
            self = .address(withUnsafeBytes(of: sixteen) { Array($0) })
        } else {
            throw KeychainError(.parameter, message: "'\(address)' is no IP address")
        }
    }

    func append(to serializer: inout DER.Serializer) {
        let (number, bytes): (UInt, [UInt8]) =
            switch self {
            case .mailAddress(let text): (1, Array(text.utf8))
            case .host(let text): (2, Array(text.utf8))
            case .address(let bytes): (7, bytes)
            }
        let tag = ASN1Identifier(tagWithNumber: number, tagClass: .contextSpecific)
        serializer.appendPrimitiveNode(identifier: tag) { $0 += bytes }
    }
}
