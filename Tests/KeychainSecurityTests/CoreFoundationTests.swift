import KeychainSecurity
import Testing

/// What existing code for Apple's systems writes; that it compiles is half of each test.
@Suite("Core Foundation idioms")
struct CoreFoundationTests {
    @Test("Dictionaries of every usual type become a CFDictionary")
    func dictionaries() {
        let literal = [kSecClass: kSecClassKey] as CFDictionary
        let queries = [
            literal,
            [kSecClass as String: kSecClassKey] as [String: Any] as CFDictionary,
            [kSecClass: kSecClassKey] as [CFString: Any] as CFDictionary,
            [kSecClass as String: "keys"] as [String: AnyHashable] as CFDictionary,
            [kSecClass as String: kSecClassKey] as [String: AnyObject] as CFDictionary,
            [kSecClass as String: "keys"] as [AnyHashable: Any] as CFDictionary,
            [kSecClass: kSecClassKey] as [NSString: AnyObject] as CFDictionary,
            [kSecClass: kSecClassKey] as [NSObject: AnyObject] as CFDictionary,
            NSMutableDictionary(dictionary: ["class": "keys"]),
        ]
        for query in queries {
            #expect(query as? [String: String] == ["class": "keys"])
        }
    }

    @Test("Constants convert to text and from it")
    func strings() {
        #expect(kSecClass as String == "class")
        #expect(String(kSecClass) == "class")
        #expect("\(kSecClass)" == "class")
        #expect("class" as CFString == kSecClass)
        #expect(kSecAttrAccessible as CFString as AnyObject === kSecAttrAccessible)
        #expect(String(kCFBundleIdentifierKey) == "CFBundleIdentifier")
        #expect(kCFBundleIdentifierKey as String == "CFBundleIdentifier")
        let optional: String? = nil
        #expect(optional as CFString? == nil)
    }

    @Test("Constants are hashed, compared and switched on by their text")
    func matching() {
        let text = "ge" + "np"
        switch text as CFString {
        case kSecClassGenericPassword: break
        default: Issue.record("the case did not match")
        }
        #expect(Set<CFString>([kSecClassKey, kSecClassKey, kSecClassIdentity]).count == 2)
        #expect((text as CFString).hashValue == kSecClassGenericPassword.hashValue)
    }

    @Test("Booleans are implicitly unwrapped, and go into dictionaries of objects", arguments: [true, false])
    func booleans(flag: Bool) {
        let query: [String: Any] = ["a": kCFBooleanTrue!, "b": (flag ? kCFBooleanTrue : kCFBooleanFalse) as Any]
        let objects: [String: AnyObject] = ["a": kCFBooleanTrue, "b": kSecClassKey]
        #expect(query["b"] as? Bool == flag)
        #expect(objects["a"] as? Bool == true)
        #expect(kCFBooleanTrue as! Bool)
        #expect(!CFBooleanGetValue(kCFBooleanFalse))
    }

    @Test("An object's type is told by its type identifier")
    func typeIdentifiers() throws {
        let accessControl = try #require(SecAccessControlCreateWithFlags(nil, "ak" as CFString, [], nil))
        let cases: [(object: AnyObject, identifier: CFTypeID)] = [
            ("text" as CFString, CFStringGetTypeID()), (NSMutableString(string: "m"), CFStringGetTypeID()),
            (["a": 1] as CFDictionary, CFDictionaryGetTypeID()), ([1] as CFArray, CFArrayGetTypeID()),
            (NSSet(object: 1) as CFSet, CFSetGetTypeID()), (CFMutableSet(), CFSetGetTypeID()),
            (Data() as CFData, CFDataGetTypeID()), (kCFBooleanTrue, CFBooleanGetTypeID()),
            (true as CFBoolean, CFBooleanGetTypeID()), (1 as CFNumber, CFNumberGetTypeID()),
            (NSNumber(value: Int8(1)), CFNumberGetTypeID()), (Date() as CFDate, CFDateGetTypeID()),
            (URL(fileURLWithPath: "/") as CFURL, CFURLGetTypeID()), (kCFNull, CFNullGetTypeID()),
            (NSError(domain: "d", code: 1), CFErrorGetTypeID()),
            (accessControl, SecAccessControlGetTypeID()),
        ]
        for (object, identifier) in cases {
            #expect(CFGetTypeID(object) == identifier, "\(object)")
        }
        #expect(Set(cases.map(\.identifier)).count == 12)
        #expect(CFGetTypeID(NSObject()) != SecKeyGetTypeID())
    }

    @Test("A result of unknown type casts to what it is and to nothing else")
    func results() {
        let result: AnyObject? = Data([1]) as AnyObject
        #expect(result as? Data == Data([1]))
        #expect(result as? [SecCertificate] == nil)
        #expect(result as? SecKey == nil)
        #expect(CFGetTypeID(result) == CFDataGetTypeID())
    }

    @Test("Equality and hashes go by value")
    func equality() {
        #expect(CFEqual("a" as CFString, NSMutableString(string: "a")))
        #expect(!CFEqual("a" as CFString, kCFNull))
        #expect(CFHash("a" as CFString) == CFHash(NSMutableString(string: "a")))
    }

    @Test("A mutable dictionary is filled through pointers")
    func mutableDictionary() throws {
        var keyCallbacks = kCFTypeDictionaryKeyCallBacks
        var valueCallbacks = kCFTypeDictionaryValueCallBacks
        let query = try #require(
            CFDictionaryCreateMutable(kCFAllocatorDefault, 0, &keyCallbacks, &valueCallbacks))
        let key = Unmanaged.passUnretained(kSecClass).toOpaque()
        let value = Unmanaged.passUnretained(kSecClassKey).toOpaque()
        let other = unsafeBitCast(kSecClassIdentity, to: UnsafeRawPointer.self)
        CFDictionaryReplaceValue(query, key, value)
        #expect(CFDictionaryGetCount(query) == 0)
        CFDictionarySetValue(query, key, value)
        CFDictionaryAddValue(query, key, other)
        #expect(query as? [String: String] == ["class": "keys"])
        #expect(query["class"] as? String == "keys")
        CFDictionaryReplaceValue(query, key, other)
        #expect(query[kSecClass] as? String == "idnt")
        #expect(CFDictionaryContainsKey(query, key))
        CFDictionaryRemoveValue(query, key)
        #expect(!CFDictionaryContainsKey(query, key))
    }

    @Test("A copy of a dictionary changes on its own, and callbacks may be missing")
    func dictionaryCopies() throws {
        let empty = try #require(CFDictionaryCreateMutable(nil, 0, nil, nil))
        let copy = try #require(CFDictionaryCreateMutableCopy(nil, 0, ["a": 1] as CFDictionary))
        #expect(CFDictionaryGetCount(copy) == 1)
        CFDictionaryRemoveAllValues(copy)
        #expect(copy == empty)
    }

    @Test("Data, arrays and times are read through functions")
    func values() {
        let data: CFData = CFDataCreate(nil, [1, 2, 3], 3)
        #expect(CFDataGetLength(data) == 3)
        #expect(CFDataGetBytePtr(data)[2] == 3)
        #expect(CFArrayGetCount([1, 2] as CFArray) == 2)
        #expect(abs(CFAbsoluteTimeGetCurrent() - Date().timeIntervalSinceReferenceDate) < 60)
    }

    @Test("Data over memory of the caller's leaves it to the caller, and frees what it is given")
    func borrowedData() {
        let borrowed = UnsafeMutablePointer<UInt8>.allocate(capacity: 1 << 20)
        borrowed.initialize(repeating: 7, count: 1 << 20)
        for _ in 0..<2 {
            let data: CFData = CFDataCreateWithBytesNoCopy(kCFAllocatorDefault, borrowed, 1 << 20, kCFAllocatorNull)
            #expect(CFDataGetBytePtr(data) == UnsafePointer(borrowed))
            #expect(CFDataGetLength(data) == 1 << 20)
        }
        // So large that it would be unmapped if it were free.
        #expect(borrowed[(1 << 20) - 1] == 7)
        borrowed.deallocate()
        let given = malloc(3)!.assumingMemoryBound(to: UInt8.self)
        given[2] = 9
        let owner: CFData = CFDataCreateWithBytesNoCopy(nil, given, 3, kCFAllocatorMalloc)
        withExtendedLifetime(owner) { #expect(CFDataGetBytePtr(owner)[2] == 9) }
    }

    @Test("Codes of four characters are numbers, and a bundle's texts have keys")
    func smallNames() {
        let code: OSType = 0x6765_6e70
        #expect(code == UInt32(0x6765_6e70) as FourCharCode)
        #expect(
            [kCFBundleIdentifierKey, kCFBundleNameKey, kCFBundleVersionKey].map { $0! as String }
                == ["CFBundleIdentifier", "CFBundleName", "CFBundleVersion"])
    }

    @Test("An error tells its domain, code, texts and details")
    func errors() {
        let details = [NSLocalizedDescriptionKey: "what", NSLocalizedFailureReasonErrorKey: "why"]
        let error: CFError = CFErrorCreate(nil, kCFErrorDomainOSStatus, -50, details as CFDictionary)
        #expect(CFErrorGetDomain(error) as String == NSOSStatusErrorDomain)
        #expect(CFErrorGetCode(error) == Int(errSecParam))
        #expect(CFErrorCopyDescription(error) as String == "what")
        #expect(CFErrorCopyFailureReason(error) as String == "why")
        #expect(CFErrorCopyRecoverySuggestion(error) == nil)
        #expect(CFErrorCopyUserInfo(error) as? [String: String] == details)
    }

    @Test("An autorelease pool hands on what its body returns or throws")
    func pools() {
        struct Failure: Error {}
        #expect(autoreleasepool { 3 } == 3)
        #expect(throws: Failure.self) { try autoreleasepool { throw Failure() } }
    }
}
