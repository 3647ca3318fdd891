public import Foundation

/// On Apple's platforms a text and an `NSString` of the same characters are one key of a dictionary and one member of a set.
/// Foundation on Linux tells them apart, and code that looks up one by the other finds nothing, without a word. With this
/// conformance both are the text.
///
/// The protocol is the standard library's own, for types that are bridged. `Scripts/check-outside` fails on the day on which
/// Foundation brings the conformance itself: then this file goes.
extension NSString: @retroactive _HasCustomAnyHashableRepresentation {
    public func _toCustomAnyHashable() -> AnyHashable? { AnyHashable(String(self)) }
}
