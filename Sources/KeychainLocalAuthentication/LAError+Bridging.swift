public import Foundation

/// Casts between `NSError` and ``LAError``. On Apple's systems a stored error alone makes them work; on
/// Linux the cast asks this protocol.
extension LAError: _ObjectiveCBridgeable {
    public func _bridgeToObjectiveC() -> NSError { _nsError }

    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout LAError?) {
        result = LAError(_nsError: source)
    }

    public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout LAError?) -> Bool {
        guard source.domain == LAErrorDomain, Code(rawValue: source.code) != nil else { return false }
        result = LAError(_nsError: source)
        return true
    }

    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> LAError {
        guard let source else { preconditionFailure("there is no error to make an LAError of") }
        return LAError(_nsError: source)
    }
}
