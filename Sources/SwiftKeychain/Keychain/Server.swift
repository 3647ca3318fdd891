public import Foundation
internal import KeychainModel

extension Keychain {
    /// Which server internet passwords are for. Two that differ in anything have different passwords.
    public struct Server: Sendable, Hashable {
        /// A host's name or address, as it is: no case is folded.
        public var host: String
        /// nil: none, which is another one than each of them.
        public var `protocol`: InternetProtocol?
        /// nil: none.
        public var port: Int?
        /// nil: none.
        public var path: String?
        /// nil: none.
        public var securityDomain: String?
        /// nil: none.
        public var authenticationType: AuthenticationType?

        /// - Parameters:
        ///   - host: A host's name or address.
        ///   - protocol: What is spoken with it.
        ///   - port: Where it listens.
        public init(_ host: String, protocol: InternetProtocol? = nil, port: Int? = nil) {
            self.host = host
            self.protocol = `protocol`
            self.port = port
        }

        /// The host, protocol, port and path of a URL. nil: it has no host, or no protocol that Apple's keychain has a name for.
        public init?(_ url: URL) {
            guard let host = url.host(), !host.isEmpty,
                let found = InternetProtocol.allCases.first(where: { $0.scheme == url.scheme?.lowercased() })
            else { return nil }
            self.init(host, protocol: found, port: url.port)
            if !["", "/"].contains(url.path) { path = url.path }
        }

        func add(to attributes: inout AttributeSet) {
            attributes.append(.server, .text(host))
            // What is absent is stored like this, so nothing else is meant.
            attributes.append(.path, .text(path ?? ""))
            attributes.append(.securityDomain, .text(securityDomain ?? ""))
            attributes.append(.port, .number(Int64(port ?? 0)))
            attributes.append(.internetProtocol, self.protocol.map { .text($0.rawValue) } ?? .number(0))
            attributes.append(.authenticationType, .text(authenticationType?.rawValue ?? ""))
        }
    }

    /// What is spoken with a server: the values of Apple's `kSecAttrProtocol…` constants.
    public enum InternetProtocol: String, Sendable, Hashable, CaseIterable {
        case ftp = "ftp ", ftps = "ftps", ftpAccount = "ftpa", ftpProxy = "ftpx"
        case http = "http", https = "htps", httpProxy = "htpx", httpsProxy = "htsx"
        case irc = "irc ", ircs = "ircs"
        case nntp = "nntp", nntps = "ntps"
        case pop3 = "pop3", pop3s = "pops"
        case smtp = "smtp"
        case socks = "sox "
        case imap = "imap", imaps = "imps"
        case ldap = "ldap", ldaps = "ldps"
        case appleTalk = "atlk", afp = "afp "
        case telnet = "teln", telnets = "tels"
        case ssh = "ssh "
        case smb = "smb "
        case rtsp = "rtsp", rtspProxy = "rtsx"
        case daap = "daap"
        case eppc = "eppc"
        case ipp = "ipp "

        /// The scheme of URLs; for most it is the case's name.
        var scheme: String {
            switch self {
            case .pop3: "pop"
            case .pop3s: "pops"
            case .socks: "socks"
            default: "\(self)"
            }
        }
    }

    /// How a client shows itself to a server: the values of Apple's `kSecAttrAuthenticationType…` constants.
    public enum AuthenticationType: String, Sendable, Hashable, CaseIterable {
        case ntlm = "ntlm", msn = "msna", dpa = "dpaa", rpa = "rpaa"
        case httpBasic = "http", httpDigest = "httd"
        case htmlForm = "form"
        case `default` = "dflt"
    }
}
