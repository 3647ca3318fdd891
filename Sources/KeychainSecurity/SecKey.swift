public import Foundation

/// The type stands for a cryptographic key, and nothing makes an instance of it yet.
///
/// Declarations and casts that name the type compile. The functions that make, use or export keys are absent, so that
/// code which needs them does not build instead of failing later.
public final class SecKey: NSObject, @unchecked Sendable {  // no state, no instances
    private init(_ nothing: Never) {}
}
