import Foundation
import Report
import SwiftKeychain

private func areDistinct<Value: Hashable>(_ values: [Value]) -> Bool { Set(values).count == values.count }

/// What is a matter of its name alone.
func names() {
    let protocols: [Keychain.InternetProtocol] = [
        .ftp, .ftpAccount, .ftpProxy, .ftps, .http, .httpProxy, .https, .httpsProxy, .irc, .ircs, .nntp, .nntps, .pop3,
        .pop3s, .smtp, .socks, .imap, .imaps, .ldap, .ldaps, .appleTalk, .afp, .telnet, .telnets, .ssh, .rtsp,
        .rtspProxy, .daap, .eppc, .ipp, .smb,
    ]
    tell("Protocols have names", areDistinct(protocols) && Keychain.InternetProtocol(rawValue: "http") == .http)
    let authenticationTypes: [Keychain.AuthenticationType] = [
        .ntlm, .msn, .dpa, .rpa, .httpBasic, .httpDigest, .htmlForm, .default,
    ]
    tell("As ways to log in have", areDistinct(authenticationTypes))
    let consents: [Keychain.AccessControl.Consent] = [
        .userPresence, .biometry, .currentBiometry, .passcode, .biometryAndPasscode, .currentBiometryAndPasscode,
    ]
    tell("And what a person can show", areDistinct(consents))
    let times: [Keychain.Accessibility] = [
        .whenUnlocked, .afterFirstUnlock, .always, .whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly,
        .alwaysThisDeviceOnly, .whenPasscodeSetThisDeviceOnly,
    ]
    tell("And when an item is there", areDistinct(times))
    let halves: [Keychain.KeyClass] = [.publicKey, .privateKey, .symmetric]
    tell("And what a key is", areDistinct(halves) && Keychain.KeyClass(rawValue: 1) == .privateKey)
}

// Types that generic code of a program needs the names of.

func service<Kind: KeychainPasswordKind>(of item: KeychainItem<Kind>) -> String? { item.account }
func subject<Kind: KeychainCertificateKind>(of item: KeychainItem<Kind>) -> Data? { item.subject }
func tag<Kind: KeychainKeyKind>(of item: KeychainItem<Kind>) -> Data? { item.applicationTag }
func label<Kind: KeychainItemKind>(of item: KeychainItem<Kind>) -> String? { item.label }
func entry(of session: Session) -> Keychained<String?>.Entry { session.$token }
func change(_ transaction: inout Keychain.Transaction) throws { try transaction.set("x", for: "k") }
func asks(_ context: any KeychainContext, _ keychain: inout Keychain) { keychain.context = context }
