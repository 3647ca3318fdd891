/// The name of an item's attribute: Apple's published code of four characters.
package struct Attribute: Sendable, Hashable {
    /// The four ASCII characters, first one in the highest byte.
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// nil unless the text is four ASCII characters.
    package init?(_ text: String) {
        var text = text
        guard
            let code = text.withUTF8({ bytes -> UInt32? in
                guard bytes.count == 4, bytes.allSatisfy({ $0 < 0x80 }) else { return nil }
                return bytes.reduce(0) { $0 << 8 | UInt32($1) }
            })
        else { return nil }
        rawValue = code
    }

    fileprivate init(code: StaticString) {
        rawValue = code.withUTF8Buffer { $0.reduce(0) { $0 << 8 | UInt32($1) } }
    }

    package var code: String {
        String(decoding: [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: rawValue >> $0) }, as: UTF8.self)
    }
}

extension Attribute: CustomStringConvertible {
    package var description: String { code }
}

extension Attribute {
    // Common to every class.
    package static let creationDate = Attribute(code: "cdat")
    package static let modificationDate = Attribute(code: "mdat")
    package static let label = Attribute(code: "labl")
    package static let accessGroup = Attribute(code: "agrp")
    package static let accessible = Attribute(code: "pdmn")
    package static let accessControl = Attribute(code: "accc")
    package static let synchronizable = Attribute(code: "sync")
    package static let viewHint = Attribute(code: "vwht")
    package static let tokenID = Attribute(code: "tkid")
    /// The identifier by which a token tells its keys apart. A key in the engine has its public half there: 04 ‖ X ‖ Y.
    package static let tokenObjectID = Attribute(code: "toid")
    package static let alias = Attribute(code: "alis")
    // Passwords.
    package static let account = Attribute(code: "acct")
    package static let service = Attribute(code: "svce")
    package static let generic = Attribute(code: "gena")
    package static let description = Attribute(code: "desc")
    package static let comment = Attribute(code: "icmt")
    package static let creator = Attribute(code: "crtr")
    package static let type = Attribute(code: "type")
    package static let scriptCode = Attribute(code: "scrp")
    package static let isInvisible = Attribute(code: "invi")
    package static let isNegative = Attribute(code: "nega")
    package static let hasCustomIcon = Attribute(code: "cusi")
    package static let protected = Attribute(code: "prot")
    package static let securityDomain = Attribute(code: "sdmn")
    package static let server = Attribute(code: "srvr")
    package static let internetProtocol = Attribute(code: "ptcl")
    package static let authenticationType = Attribute(code: "atyp")
    package static let port = Attribute(code: "port")
    package static let path = Attribute(code: "path")
    // Certificates.
    package static let certificateType = Attribute(code: "ctyp")
    package static let certificateEncoding = Attribute(code: "cenc")
    package static let subject = Attribute(code: "subj")
    package static let issuer = Attribute(code: "issr")
    package static let serialNumber = Attribute(code: "slnr")
    package static let subjectKeyID = Attribute(code: "skid")
    package static let publicKeyHash = Attribute(code: "pkhh")
    // Keys.
    package static let keyClass = Attribute(code: "kcls")
    package static let applicationLabel = Attribute(code: "klbl")
    package static let applicationTag = Attribute(code: "atag")
    package static let keySizeInBits = Attribute(code: "bsiz")
    package static let effectiveKeySize = Attribute(code: "esiz")
    package static let startDate = Attribute(code: "sdat")
    package static let endDate = Attribute(code: "edat")
    package static let isPermanent = Attribute(code: "perm")
    package static let isPrivate = Attribute(code: "priv")
    package static let isModifiable = Attribute(code: "modi")
    package static let isSensitive = Attribute(code: "sens")
    package static let wasAlwaysSensitive = Attribute(code: "asen")
    package static let isExtractable = Attribute(code: "extr")
    package static let wasNeverExtractable = Attribute(code: "next")
    package static let canEncrypt = Attribute(code: "encr")
    package static let canDecrypt = Attribute(code: "decr")
    package static let canDerive = Attribute(code: "drve")
    package static let canSign = Attribute(code: "sign")
    package static let canVerify = Attribute(code: "vrfy")
    package static let canWrap = Attribute(code: "wrap")
    package static let canUnwrap = Attribute(code: "unwp")
    package static let canSignRecover = Attribute(code: "snrc")
    package static let canVerifyRecover = Attribute(code: "vyrc")

    /// Attributes that Apple's keychain opens to holders of a private entitlement alone.
    package static let restricted: Set<Attribute> = Set(
        ["sysb", "pcss", "pcsk", "pcsi", "ggrp", "binn", "bini", "bin0", "bin1", "bin2", "bin3"]
            .compactMap { Attribute($0) })
    /// App-clip marker, private: its presence makes any dictionary malformed.
    package static let appClip = Attribute(code: "clip")
}
