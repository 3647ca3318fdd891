import KeychainModel
import KeychainSecurity
import Testing

@Suite("Access control")
struct SecAccessControlTests {
    private static let accepted: [SecAccessControlCreateFlags] = [
        [], .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .companion,
        .privateKeyUsage, .applicationPassword, .or, .and,
        [.biometryAny, .devicePasscode],
        [.biometryAny, .devicePasscode, .or],
        [.biometryAny, .devicePasscode, .and],
        [.biometryAny, .devicePasscode, .and, .applicationPassword],
        [.userPresence, .applicationPassword],
        [.userPresence, .applicationPassword, .privateKeyUsage],
    ]

    /// Flags that are refused, and what the reason speaks of.
    private static let refused: [(SecAccessControlCreateFlags, String)] = [
        ([.userPresence, .biometryAny], ".userPresence"), ([.userPresence, .devicePasscode], ".userPresence"),
        ([.userPresence, .companion], ".userPresence"), ([.userPresence, .or], ".userPresence"),
        ([.userPresence, .and], ".userPresence"), ([.or, .and], ".or or .and"),
        ([.biometryAny, .or, .and], ".or or .and"),
        ([.biometryAny, .biometryCurrentSet], ".biometryAny or .biometryCurrentSet"),
        (SecAccessControlCreateFlags(rawValue: 1 << 2), "not defined"),
        (SecAccessControlCreateFlags(rawValue: 1 << 32), "not defined"),
    ]

    @Test("These flags make an access control that holds them", arguments: accepted)
    func accepts(flags: SecAccessControlCreateFlags) throws {
        var error: Unmanaged<CFError>?
        let made = SecAccessControlCreateWithFlags(
            kCFAllocatorDefault, kSecAttrAccessibleWhenUnlocked, flags, &error)
        let accessControl = try #require(made).accessControl
        #expect(accessControl.protection == .whenUnlocked)
        #expect(UInt(accessControl.flags.rawValue) == flags.rawValue)
        #expect(error == nil)
    }

    @Test("These flags are refused as a bad parameter, with a reason", arguments: refused)
    func refuses(flags: SecAccessControlCreateFlags, reason: String) throws {
        var failure: Unmanaged<CFError>?
        #expect(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAlways, flags, &failure) == nil)
        let error = try #require(failure).takeRetainedValue()
        #expect(CFErrorGetDomain(error) as String == NSOSStatusErrorDomain)
        #expect(CFErrorGetCode(error) == -50)
        #expect(error.localizedDescription.contains(reason))
    }

    @Test("Every accessibility makes an access control", arguments: Protection.allCases)
    func protections(protection: Protection) throws {
        let made = SecAccessControlCreateWithFlags(nil, protection.rawValue as CFTypeRef, [], nil)
        #expect(try #require(made).accessControl == AccessControl(protection))
    }

    @Test("No other protection does, Apple's private until-reboot class included", arguments: ["f", "", "AK"])
    func unknownProtections(text: String) throws {
        var failure: Unmanaged<CFError>?
        #expect(SecAccessControlCreateWithFlags(nil, text as CFString, .userPresence, &failure) == nil)
        #expect(CFErrorGetCode(try #require(failure).takeRetainedValue()) == -50)
    }

    @Test("A protection that is not text is refused, also where no error is wanted")
    func protectionOfOtherType() {
        #expect(SecAccessControlCreateWithFlags(nil, ["prot": "ak"] as CFDictionary, [], nil) == nil)
        #expect(SecAccessControlCreateWithFlags(nil, kCFBooleanTrue, [], nil) == nil)
    }

    @Test("Two are equal when protection and flags are")
    func equality() throws {
        let passcode = try #require(SecAccessControlCreateWithFlags(nil, "ak" as CFString, .devicePasscode, nil))
        let same = try #require(SecAccessControlCreateWithFlags(nil, "ak" as CFString, .devicePasscode, nil))
        let free = try #require(SecAccessControlCreateWithFlags(nil, "ak" as CFString, [], nil))
        let later = try #require(SecAccessControlCreateWithFlags(nil, "ck" as CFString, .devicePasscode, nil))
        #expect(passcode == same)
        #expect(CFEqual(passcode, same))
        #expect(CFHash(passcode) == CFHash(same))
        #expect(passcode != free)
        #expect(passcode != later)
    }

    @Test("Flags have Apple's bits, older names included")
    func bits() {
        let flags: [SecAccessControlCreateFlags] = [
            .userPresence, .biometryAny, .touchIDAny, .biometryCurrentSet, .touchIDCurrentSet,
            .devicePasscode, .companion, .watch, .or, .and, .privateKeyUsage, .applicationPassword,
        ]
        #expect(flags.map(\.rawValue.trailingZeroBitCount) == [0, 1, 1, 3, 3, 4, 5, 5, 14, 15, 30, 31])
    }

    @Test("It comes out of an untyped query as what it is")
    func casts() throws {
        let accessControl = try #require(SecAccessControlCreateWithFlags(nil, "ak" as CFString, [], nil))
        let query = [kSecAttrAccessControl: accessControl] as [CFString: Any] as CFDictionary
        #expect(query["accc"] as? SecAccessControl === accessControl)
        #expect((query["accc"] as AnyObject) as! SecAccessControl == accessControl)
    }
}
