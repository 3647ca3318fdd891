public import Foundation

/// The conformance makes casts between `NSError` and ``LAError`` work.
///
/// On Apple's systems a stored error is enough for such casts. On Linux the cast asks this protocol.
extension LAError: _ObjectiveCBridgeable {
    /// Returns the error in Foundation's form, with its code and description.
    public func _bridgeToObjectiveC() -> NSError { _nsError }

    /// Takes an error for an ``LAError``, and ends the program if it is of another domain.
    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout LAError?) {
        result = LAError(_nsError: source)
    }

    /// Takes an error for an ``LAError`` if its domain and code are those of one.
    ///
    /// - Returns: The value true if the error is an ``LAError``.
    public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout LAError?) -> Bool {
        guard source.domain == LAErrorDomain, Code(rawValue: source.code) != nil else { return false }
        result = LAError(_nsError: source)
        return true
    }

    /// Takes an error for an ``LAError``, and ends the program if it is nil or of another domain.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> LAError {
        guard let source else { preconditionFailure("there is no error to make an LAError of") }
        return LAError(_nsError: source)
    }
}
