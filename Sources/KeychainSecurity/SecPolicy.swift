public import Foundation

/// The type stands for a set of rules for the evaluation of a certificate, and nothing makes an instance of it yet.
///
/// Declarations and casts that name the type compile. The functions that make policies are absent, so that code which
/// needs them does not build instead of failing later.
public final class SecPolicy: NSObject, @unchecked Sendable {  // no state, no instances
    private init(_ nothing: Never) {}
}
