/// The protocols that Apple's keychain has names for. The raw values are those of its `kSecAttrProtocol…` constants.
package enum InternetProtocol: String, Sendable, CaseIterable {
    case afp = "afp ", appleTalk = "atlk", daap, eppc
    case ftp = "ftp ", ftpAccount = "ftpa", ftpProxy = "ftpx", ftps
    case http, httpProxy = "htpx", https = "htps", httpsProxy = "htsx"
    case imap, imaps = "imps", ipp = "ipp ", irc = "irc ", ircs
    case ldap, ldaps = "ldps", nntp, nntps = "ntps", pop3, pop3s = "pops"
    case rtsp, rtspProxy = "rtsx", smb = "smb ", smtp, socks = "sox ", ssh = "ssh "
    case telnet = "teln", telnets = "tels"

    /// The name for people.
    package var name: String {
        switch self {
        case .ftpAccount: "ftp-account"
        case .ftpProxy: "ftp-proxy"
        case .httpProxy: "http-proxy"
        case .httpsProxy: "https-proxy"
        case .rtspProxy: "rtsp-proxy"
        case .appleTalk: "appletalk"
        default: "\(self)"
        }
    }

    package var scheme: String {
        switch self {
        case .pop3: "pop"
        case .pop3s: "pops"
        default: "\(self)"
        }
    }

    package init?(name: String) {
        guard let known = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = known
    }

    package init?(scheme: String) {
        guard let known = Self.allCases.first(where: { $0.scheme == scheme }) else { return nil }
        self = known
    }
}
