import Foundation
import KeychainLocalAuthentication
import KeychainModel
import Testing

@testable import KeychainSecurity

@Suite struct SecItemDictionaryTests {
    private func parse(_ entries: [CFString: Any]) throws -> SecItemDictionary {
        try SecItemDictionary(entries.merging([kSecClass: kSecClassGenericPassword]) { $1 } as CFDictionary)
    }

    private func status(_ entries: [CFString: Any]) -> OSStatus? {
        do {
            _ = try parse(entries).findRequest()
            return nil
        } catch {
            return (error as? KeychainError)?.code.status
        }
    }

    private var forbidding: LAContext {
        let context = LAContext()
        context.interactionNotAllowed = true
        return context
    }

    @Test("What forbids a question wins over what allows it, and leaving items out over both")
    func questions() throws {
        // A dictionary has no order, so each pair is tried beside other entries that change it.
        for extra in 0..<20 {
            let more: [CFString: Any] = [kSecAttrAccount: "a", "m_extra\(extra)" as CFString: extra]
            func ui(_ entries: [CFString: Any]) throws -> ItemQuery.AuthenticationUI {
                try parse(entries.merging(more) { $1 }).authenticationUI
            }
            #expect(try ui([:]) == .allow)
            #expect(try ui(["u_NoAuthUI" as CFString: true]) == .fail)
            #expect(try ui(["u_NoAuthUI" as CFString: false]) == .allow)
            #expect(try ui([kSecUseAuthenticationContext: LAContext()]) == .allow)
            #expect(try ui([kSecUseAuthenticationContext: forbidding]) == .fail)
            #expect(
                try ui([
                    kSecUseAuthenticationContext: forbidding, kSecUseAuthenticationUI: kSecUseAuthenticationUIAllow,
                ]) == .fail)
            #expect(
                try ui(["u_NoAuthUI" as CFString: true, kSecUseAuthenticationUI: kSecUseAuthenticationUISkip]) == .skip)
        }
    }

    @Test("A number of one byte is a number and no Boolean")
    func smallNumbers() throws {
        #expect(status([kSecReturnData: NSNumber(value: Int8(1))]) == errSecParam)
        #expect(try parse([kSecMatchLimit: NSNumber(value: Int8(2))]).findRequest().query.limit == .atMost(2))
        #expect(status([kSecMatchLimit: true]) == errSecParam)
    }

    @Test("A match key that is said to be false asks for nothing")
    func falseMatchKeys() {
        for key in [kSecMatchTrustedOnly, kSecMatchCaseInsensitive] {
            #expect(status([key: false]) == nil)
            #expect(status([key: true]) == errSecUnimplemented)
        }
        #expect(status([kSecMatchTrustedOnly: 0]) == errSecParam)
    }

    @Test("A deletion never drops a filter that it cannot honour")
    func deletion() throws {
        for key in [kSecMatchHostOrSubdomainOfHost, kSecMatchSubjectContains] {
            let dictionary = try SecItemDictionary(
                [kSecClass: kSecClassInternetPassword, kSecMatchLimit: kSecMatchLimitAll, key: "x"] as CFDictionary)
            let error = #expect(throws: KeychainError.self) { try dictionary.deleteQuery() }
            #expect(error?.code == .parameter)
        }
    }
}
