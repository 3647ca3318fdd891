public import Foundation

/// A set of rules for the evaluation of a certificate, as a type only: nothing makes one yet.
///
/// Declarations and casts that name the type compile. The functions that make policies are absent,
/// so that code which needs them does not build instead of failing later.
public final class SecPolicy: NSObject, @unchecked Sendable {  // no state, no instances
    private init(_ nothing: Never) {}
}
