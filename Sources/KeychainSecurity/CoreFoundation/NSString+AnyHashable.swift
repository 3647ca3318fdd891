public import Foundation

/// The conformance makes an `NSString` and a text of equal characters one key of a dictionary and one member of a set.
///
/// Apple's platforms do so by themselves. Foundation on Linux tells the two apart, and code that looks up one by the
/// other finds nothing, without a word.
///
/// The protocol is the standard library's own, for types that are bridged. `Scripts/check-outside` fails on the day on
/// which Foundation brings the conformance itself, and this file goes then.
extension NSString: @retroactive _HasCustomAnyHashableRepresentation {
    /// Returns the text as the key that stands for this object.
    public func _toCustomAnyHashable() -> AnyHashable? { AnyHashable(String(self)) }
}
