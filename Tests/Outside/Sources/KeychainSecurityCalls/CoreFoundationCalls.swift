import Foundation
import Report
import Security

/// The part of Core Foundation that code for the keychain uses.
enum CoreFoundationCalls {
    static func check() throws {
        types()
        values()
        dictionaries()
        errors()
    }

    private static func types() {
        let text: CFString = "text"
        let objects: [(CFTypeRef, CFTypeID)] = [
            (text, CFStringGetTypeID()), (CFMutableString(string: "text"), CFStringGetTypeID()),
            ([:] as CFDictionary, CFDictionaryGetTypeID()), (CFMutableDictionary(), CFDictionaryGetTypeID()),
            ([] as CFArray, CFArrayGetTypeID()), (CFMutableArray(), CFArrayGetTypeID()),
            (CFSet(), CFSetGetTypeID()), (CFMutableSet(), CFSetGetTypeID()),
            (CFData(), CFDataGetTypeID()), (CFMutableData(), CFDataGetTypeID()),
            (kCFBooleanTrue as CFBoolean, CFBooleanGetTypeID()), (4711 as CFNumber, CFNumberGetTypeID()),
            (CFDate(), CFDateGetTypeID()), (CFURL(fileURLWithPath: "/"), CFURLGetTypeID()),
            (kCFNull as CFNull, CFNullGetTypeID()), (CFError(domain: "d", code: 1), CFErrorGetTypeID()),
        ]
        for (object, identifier) in objects {
            tell("\(type(of: object)) has its type", CFGetTypeID(object) == identifier)
        }
        let others: [CFTypeID] = [
            SecAccessControlGetTypeID(), SecCertificateGetTypeID(), SecIdentityGetTypeID(), SecKeyGetTypeID(),
            SecPolicyGetTypeID(), SecTrustGetTypeID(),
        ]
        tell("The types of Security are others", Set(others).isDisjoint(with: objects.map(\.1)))
        tell("And told apart", Set(others).count == others.count)
        let classes: [AnyClass] = [SecIdentity.self, SecKey.self, SecPolicy.self, SecTrust.self, CFAllocator.self]
        tell("Nothing is of a class that has no objects yet", !classes.contains { type(of: text) == $0 })
        let hash: CFHashCode = CFHash(text)
        tell("Equal texts have one hash", CFEqual(text, "text" as CFString) && hash == CFHash("text" as CFString))
    }

    private static func values() {
        tell("An array is counted", CFArrayGetCount([1, 2, 3] as CFArray) == 3)
        tell("Truth has two values", CFBooleanGetValue(kCFBooleanTrue) && !CFBooleanGetValue(kCFBooleanFalse))
        let data: CFData = CFDataCreate(kCFAllocatorDefault, [1, 2, 3], 3)
        tell("Data has a length and bytes", CFDataGetLength(data) == 3 && CFDataGetBytePtr(data)[2] == 3)
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 3) { bytes in
            bytes.initialize(repeating: 7)
            let view = CFDataCreateWithBytesNoCopy(kCFAllocatorDefault, bytes.baseAddress, 3, kCFAllocatorNull)
            tell("Data can be a view of memory", CFDataGetBytePtr(view) == UnsafePointer(bytes.baseAddress))
        }
        let given = UnsafeMutableRawPointer(mutating: strdup("7")!).assumingMemoryBound(to: UInt8.self)
        let owner: CFData = CFDataCreateWithBytesNoCopy(kCFAllocatorDefault, given, 1, kCFAllocatorMalloc)
        withExtendedLifetime(owner) { tell("Or own it", CFDataGetBytePtr(owner)[0] == 0x37) }
        let code: FourCharCode = 0x6765_6e70
        tell("Four characters are a number", code == 0x6765_6e70 as OSType)
        let now: CFAbsoluteTime = CFAbsoluteTimeGetCurrent()
        let span: CFTimeInterval = 3600
        tell("Times count from 2001", abs(Date.timeIntervalSinceReferenceDate - now) < span)
        let (count, options): (CFIndex, CFOptionFlags) = (1, 2)
        tell("Counts are signed and options are not", count.isMultiple(of: 1) && CFOptionFlags.min == 0 && options == 2)
        tell("A bundle's identifier has a key", kCFBundleIdentifierKey as String == "CFBundleIdentifier")
        tell("So has its name", kCFBundleNameKey as String == "CFBundleName")
        tell("So has its version", kCFBundleVersionKey as String == "CFBundleVersion")
        tell("One text is one key", AnyHashable("class") == AnyHashable(kSecClass))
        tell("A pool hands on what its body returns", autoreleasepool { 3 } == 3)
    }

    private static func dictionaries() {
        var keyCallBacks = kCFTypeDictionaryKeyCallBacks
        var valueCallBacks = kCFTypeDictionaryValueCallBacks
        let copying = kCFCopyStringDictionaryKeyCallBacks
        let versions = [
            keyCallBacks.version, valueCallBacks.version, copying.version, CFDictionaryKeyCallBacks().version,
            CFDictionaryValueCallBacks().version,
        ]
        tell("Callbacks have one version", Set(versions) == [0])
        let query: CFMutableDictionary = CFDictionaryCreateMutable(
            kCFAllocatorDefault, 0, &keyCallBacks, &valueCallBacks)
        let key = Unmanaged.passUnretained(kSecClass).toOpaque()
        let password = Unmanaged.passUnretained(kSecClassGenericPassword).toOpaque()
        let identity = Unmanaged.passUnretained(kSecClassIdentity).toOpaque()
        CFDictionaryReplaceValue(query, key, password)
        tell("Nothing is replaced that is not there", CFDictionaryGetCount(query) == 0)
        CFDictionarySetValue(query, key, password)
        CFDictionaryAddValue(query, key, identity)
        tell("Nothing is added that is there", query[kSecClass] as? String == kSecClassGenericPassword as String)
        CFDictionaryReplaceValue(query, key, identity)
        let copy: CFMutableDictionary = CFDictionaryCreateMutableCopy(kCFAllocatorDefault, 0, query)
        CFDictionaryRemoveValue(query, key)
        tell("A copy keeps what is removed", !CFDictionaryContainsKey(query, key) && CFDictionaryContainsKey(copy, key))
        CFDictionaryRemoveAllValues(copy)
        tell("And loses it by itself", CFDictionaryGetCount(copy) == 0)
    }

    private static func errors() {
        let domains: [CFErrorDomain?] = [kCFErrorDomainOSStatus, kCFErrorDomainPOSIX, kCFErrorDomainCocoa]
        tell("Errors have three domains", Set(domains).count == 3)
        let details = [
            NSLocalizedDescriptionKey: "what", NSLocalizedFailureReasonErrorKey: "why",
            NSLocalizedRecoverySuggestionErrorKey: "how to mend it",
        ]
        let error: CFError = CFErrorCreate(
            kCFAllocatorDefault, kCFErrorDomainOSStatus, CFIndex(errSecParam), details as CFDictionary)
        tell("An error has a code", CFErrorGetCode(error) == -50)
        tell("An error has a domain", CFErrorGetDomain(error) as String == NSOSStatusErrorDomain)
        tell("An error says what", CFErrorCopyDescription(error) as String == "what")
        tell("An error says why", CFErrorCopyFailureReason(error) as String == "why")
        tell("An error says what to do", CFErrorCopyRecoverySuggestion(error) as String == "how to mend it")
        tell("An error has details", CFErrorCopyUserInfo(error) as? [String: String] == details)
    }
}
