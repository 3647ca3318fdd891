import Foundation
import KeychainSecurity
import Testing

/// Texts as keys, in whichever of two classes.
@Suite struct AnyHashableTests {
    @Test("A String and an NSString of one text are one key, whichever is looked up by the other")
    func keys() {
        #expect(AnyHashable("a") == AnyHashable("a" as NSString))
        #expect(AnyHashable("a" as NSString) == AnyHashable("a"))
        #expect(AnyHashable("a").hashValue == AnyHashable("a" as NSString).hashValue)
        #expect(AnyHashable("a") != AnyHashable("b" as NSString))
        let byText: [AnyHashable: Any] = ["class": 1]
        #expect(byText[kSecClass] as? Int == 1)
        let byConstant: [AnyHashable: Any] = [kSecClass: 1]
        #expect(byConstant["class"] as? Int == 1)
        #expect(Set<AnyHashable>([kSecClass, "class"]).count == 1)
        // Composed and decomposed are one text to Swift, and two to NSString's own comparison.
        #expect(AnyHashable("\u{e9}" as NSString) == AnyHashable("e\u{301}"))
    }

    @Test("Dictionaries are equal whose values are a text and a constant")
    func dictionaries() {
        let texts: NSDictionary = ["class": "genp"]
        let constants: NSDictionary = ["class": kSecClassGenericPassword]
        #expect(texts.isEqual(constants))
        #expect(constants.isEqual(texts))
        #expect(texts.isEqual(to: ["class": kSecClassGenericPassword]))
    }
}
