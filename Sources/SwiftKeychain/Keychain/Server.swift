public import FoundationEssentials
internal import KeychainModel

extension Keychain {
    /// The server that internet passwords are for.
    ///
    /// ```swift
    /// var server = Keychain.Server("example.com", protocol: .https, port: 443)
    /// server.path = "/mail"
    /// let keychain = Keychain(server: server)
    /// ```
    ///
    /// Two servers that differ in any property have different passwords. A property that is `nil` matches only items
    /// without it.
    public struct Server: Sendable, Hashable {
        /// The host's name or address. It is compared byte by byte: "Example.com" is another host than "example.com".
        public var host: String
        /// The protocol that is spoken with the server. `nil` means that none is named.
        public var `protocol`: InternetProtocol?
        /// The port at which the server listens. `nil` means that none is named, and is stored as 0.
        public var port: Int?
        /// The part of the server that the password is for. `nil` means that none is named.
        public var path: String?
        /// The realm that the server names when it asks for a password. `nil` means that none is named.
        public var securityDomain: String?
        /// The way in which a client authenticates itself. `nil` means that none is named.
        public var authenticationType: AuthenticationType?

        /// Makes a server of its host, protocol and port.
        ///
        /// - Parameters:
        ///   - host: The host's name or address.
        ///   - protocol: The protocol that is spoken with it.
        ///   - port: The port at which it listens.
        public init(_ host: String, protocol: InternetProtocol? = nil, port: Int? = nil) {
            self.host = host
            self.protocol = `protocol`
            self.port = port
        }

        /// Makes a server of the host, protocol, port and path of a URL.
        ///
        /// The path "/" counts as none, and the default port of a scheme is not filled in. User, password, query and
        /// fragment of the URL are ignored. The result is `nil` if the URL has no host, or a scheme that Apple's
        /// keychain has no name for.
        ///
        /// - Parameter url: The URL, such as `imap://mail.example.com:143`.
        public init?(_ url: URL) {
            guard let host = url.host(), !host.isEmpty,
                let scheme = url.scheme?.lowercased(), let known = KeychainModel.InternetProtocol(scheme: scheme),
                let found = InternetProtocol(rawValue: known.rawValue)
            else { return nil }
            self.init(host, protocol: found, port: url.port)
            if !["", "/"].contains(url.path) { path = url.path }
        }

        func add(to attributes: inout AttributeSet) {
            attributes.append(.server, .text(host))
            // An absent property is stored in this form, so that only items without it match.
            attributes.append(.path, .text(path ?? ""))
            attributes.append(.securityDomain, .text(securityDomain ?? ""))
            attributes.append(.port, .number(Int64(port ?? 0)))
            attributes.append(.internetProtocol, self.protocol.map { .text($0.rawValue) } ?? .number(0))
            attributes.append(.authenticationType, .text(authenticationType?.rawValue ?? ""))
        }
    }

    /// The protocols that Apple's keychain has names for.
    ///
    /// The raw values are those of Apple's `kSecAttrProtocol…` constants, with their spaces: four characters each.
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
    }

    /// The ways in which a client authenticates itself to a server.
    ///
    /// The raw values are those of Apple's `kSecAttrAuthenticationType…` constants: four characters each.
    public enum AuthenticationType: String, Sendable, Hashable, CaseIterable {
        case ntlm = "ntlm", msn = "msna", dpa = "dpaa", rpa = "rpaa"
        case httpBasic = "http", httpDigest = "httd"
        case htmlForm = "form"
        case `default` = "dflt"
    }
}
