public import Foundation

// Attributes of internet passwords; all of them, with the account, make one unique.

/// The server is the host name or address that an internet password is for.
///
/// The code is `srvr`. The value is text, data or a number, and empty text if an add gives none. The store has an index
/// for the server. Two internet passwords may differ in the server alone. `kSecMatchHostOrSubdomainOfHost` compares
/// servers that are text.
nonisolated(unsafe) public let kSecAttrServer: CFString = "srvr"
/// The protocol says how a program talks to the server of an internet password.
///
/// The code is `ptcl`. The value is one of the `kSecAttrProtocol…` texts or a number, and 0 if an add gives none. The
/// store has an index for the protocol. Two internet passwords may differ in the protocol alone.
nonisolated(unsafe) public let kSecAttrProtocol: CFString = "ptcl"
/// The number tells the port of the server of an internet password.
///
/// The code is `port`. An add without a port stores 0. The store has an index for the port. Two internet passwords may
/// differ in the port alone.
nonisolated(unsafe) public let kSecAttrPort: CFString = "port"
/// The path leads to a resource on the server of an internet password.
///
/// The code is `path`. The value is text, data or a number, and empty text if an add gives none. The store has an index
/// for the path. Two internet passwords may differ in the path alone.
nonisolated(unsafe) public let kSecAttrPath: CFString = "path"
/// The domain tells passwords of different realms on one server apart.
///
/// The code is `sdmn`. The value is text, data or a number, and empty text if an add gives none. Internet passwords
/// have the attribute, and the store has an index for the domain. Two internet passwords may differ in the domain
/// alone.
nonisolated(unsafe) public let kSecAttrSecurityDomain: CFString = "sdmn"
/// The type tells by which method an internet password is shown to its server.
///
/// The code is `atyp`. The value is one of the `kSecAttrAuthenticationType…` texts, or data or a number, and empty text
/// if an add gives none. The store has an index for the type. Two internet passwords may differ in the type alone.
nonisolated(unsafe) public let kSecAttrAuthenticationType: CFString = "atyp"

// Values of `kSecAttrProtocol`: four characters each, a space included.

/// The File Transfer Protocol (FTP) has the value `ftp`, with a space at the end.
nonisolated(unsafe) public let kSecAttrProtocolFTP: CFString = "ftp "
/// An account of the File Transfer Protocol has the value `ftpa`.
nonisolated(unsafe) public let kSecAttrProtocolFTPAccount: CFString = "ftpa"
/// The Hypertext Transfer Protocol (HTTP) has the value `http`.
nonisolated(unsafe) public let kSecAttrProtocolHTTP: CFString = "http"
/// The Internet Relay Chat (IRC) has the value `irc`, with a space at the end.
nonisolated(unsafe) public let kSecAttrProtocolIRC: CFString = "irc "
/// The Network News Transfer Protocol (NNTP) has the value `nntp`.
nonisolated(unsafe) public let kSecAttrProtocolNNTP: CFString = "nntp"
/// The Post Office Protocol, version 3 (POP3) has the value `pop3`.
nonisolated(unsafe) public let kSecAttrProtocolPOP3: CFString = "pop3"
/// The Simple Mail Transfer Protocol (SMTP) has the value `smtp`.
nonisolated(unsafe) public let kSecAttrProtocolSMTP: CFString = "smtp"
/// The SOCKS protocol of proxies has the value `sox`, with a space at the end.
nonisolated(unsafe) public let kSecAttrProtocolSOCKS: CFString = "sox "
/// The Internet Message Access Protocol (IMAP) has the value `imap`.
nonisolated(unsafe) public let kSecAttrProtocolIMAP: CFString = "imap"
/// The Lightweight Directory Access Protocol (LDAP) has the value `ldap`.
nonisolated(unsafe) public let kSecAttrProtocolLDAP: CFString = "ldap"
/// The AppleTalk family of protocols has the value `atlk`.
nonisolated(unsafe) public let kSecAttrProtocolAppleTalk: CFString = "atlk"
/// The Apple Filing Protocol (AFP) has the value `afp`, with a space at the end.
nonisolated(unsafe) public let kSecAttrProtocolAFP: CFString = "afp "
/// The Telnet protocol for remote terminals has the value `teln`.
nonisolated(unsafe) public let kSecAttrProtocolTelnet: CFString = "teln"
/// The Secure Shell protocol (SSH) has the value `ssh`, with a space at the end.
nonisolated(unsafe) public let kSecAttrProtocolSSH: CFString = "ssh "
/// The File Transfer Protocol over TLS has the value `ftps`.
nonisolated(unsafe) public let kSecAttrProtocolFTPS: CFString = "ftps"
/// The Hypertext Transfer Protocol over TLS has the value `htps`.
nonisolated(unsafe) public let kSecAttrProtocolHTTPS: CFString = "htps"
/// The proxy for HTTP has the value `htpx`.
nonisolated(unsafe) public let kSecAttrProtocolHTTPProxy: CFString = "htpx"
/// The proxy for HTTP over TLS has the value `htsx`.
nonisolated(unsafe) public let kSecAttrProtocolHTTPSProxy: CFString = "htsx"
/// The proxy for the File Transfer Protocol has the value `ftpx`.
nonisolated(unsafe) public let kSecAttrProtocolFTPProxy: CFString = "ftpx"
/// The Server Message Block protocol (SMB) of shared files has the value `smb`, with a space at the end.
nonisolated(unsafe) public let kSecAttrProtocolSMB: CFString = "smb "
/// The Real-Time Streaming Protocol (RTSP) has the value `rtsp`.
nonisolated(unsafe) public let kSecAttrProtocolRTSP: CFString = "rtsp"
/// The proxy for the Real-Time Streaming Protocol has the value `rtsx`.
nonisolated(unsafe) public let kSecAttrProtocolRTSPProxy: CFString = "rtsx"
/// The Digital Audio Access Protocol (DAAP) has the value `daap`.
nonisolated(unsafe) public let kSecAttrProtocolDAAP: CFString = "daap"
/// The protocol of Apple events between computers has the value `eppc`.
nonisolated(unsafe) public let kSecAttrProtocolEPPC: CFString = "eppc"
/// The Internet Printing Protocol (IPP) has the value `ipp`, with a space at the end.
nonisolated(unsafe) public let kSecAttrProtocolIPP: CFString = "ipp "
/// The Network News Transfer Protocol over TLS has the value `ntps`.
nonisolated(unsafe) public let kSecAttrProtocolNNTPS: CFString = "ntps"
/// The Lightweight Directory Access Protocol over TLS has the value `ldps`.
nonisolated(unsafe) public let kSecAttrProtocolLDAPS: CFString = "ldps"
/// The Telnet protocol over TLS has the value `tels`.
nonisolated(unsafe) public let kSecAttrProtocolTelnetS: CFString = "tels"
/// The Internet Message Access Protocol over TLS has the value `imps`.
nonisolated(unsafe) public let kSecAttrProtocolIMAPS: CFString = "imps"
/// The Internet Relay Chat over TLS has the value `ircs`.
nonisolated(unsafe) public let kSecAttrProtocolIRCS: CFString = "ircs"
/// The Post Office Protocol over TLS has the value `pops`.
nonisolated(unsafe) public let kSecAttrProtocolPOP3S: CFString = "pops"

// Values of `kSecAttrAuthenticationType`.

/// Windows' challenge and response (NTLM) has the value `ntlm`.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeNTLM: CFString = "ntlm"
/// The sign-in of Microsoft's MSN has the value `msna`.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeMSN: CFString = "msna"
/// Distributed Password Authentication (DPA) has the value `dpaa`.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeDPA: CFString = "dpaa"
/// Remote Passphrase Authentication (RPA) has the value `rpaa`.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeRPA: CFString = "rpaa"
/// HTTP's basic authentication, which shows the server the password itself, has the value `http`.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeHTTPBasic: CFString = "http"
/// HTTP's digest authentication has the value `httd`.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeHTTPDigest: CFString = "httd"
/// A form on a web page has the value `form`.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeHTMLForm: CFString = "form"
/// The default method of the server has the value `dflt`.
nonisolated(unsafe) public let kSecAttrAuthenticationTypeDefault: CFString = "dflt"
