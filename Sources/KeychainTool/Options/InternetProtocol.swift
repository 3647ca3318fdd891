internal import ArgumentParser
internal import KeychainModel

/// The protocols of internet passwords. The keychain knows them by Apple's codes of four characters.
enum InternetProtocol: String, CaseIterable, ExpressibleByArgument {
    case afp, appletalk, daap, eppc, ftp
    case ftpAccount = "ftp-account"
    case ftpProxy = "ftp-proxy"
    case ftps, http
    case httpProxy = "http-proxy"
    case https
    case httpsProxy = "https-proxy"
    case imap, imaps, ipp, irc, ircs, ldap, ldaps, nntp, nntps, pop3, pop3s, rtsp
    case rtspProxy = "rtsp-proxy"
    case smb, smtp, socks, ssh, telnet, telnets

    private static let codes: [InternetProtocol: String] = [
        .afp: "afp ", .appletalk: "atlk", .daap: "daap", .eppc: "eppc", .ftp: "ftp ", .ftpAccount: "ftpa",
        .ftpProxy: "ftpx", .ftps: "ftps", .http: "http", .httpProxy: "htpx", .https: "htps", .httpsProxy: "htsx",
        .imap: "imap", .imaps: "imps", .ipp: "ipp ", .irc: "irc ", .ircs: "ircs", .ldap: "ldap", .ldaps: "ldps",
        .nntp: "nntp", .nntps: "ntps", .pop3: "pop3", .pop3s: "pops", .rtsp: "rtsp", .rtspProxy: "rtsx",
        .smb: "smb ", .smtp: "smtp", .socks: "sox ", .ssh: "ssh ", .telnet: "teln", .telnets: "tels",
    ]

    var code: String { Self.codes[self]! }  // the table has every case; a test says so

    init?(code: String) {
        guard let match = Self.codes.first(where: { $0.value == code }) else { return nil }
        self = match.key
    }

    /// As it is given on the command line, or the code itself if it is none of ours.
    static func name(ofCode code: String) -> String { InternetProtocol(code: code)?.rawValue ?? code }

    static var defaultCompletionKind: CompletionKind { .list(allCases.map(\.rawValue)) }
}
