public import Foundation

/// The type stands for a private key together with its certificate, and nothing makes an instance of it yet.
///
/// Declarations and casts that name the type compile. The functions that make or take apart identities are absent, so
/// that code which needs them does not build instead of failing later.
public final class SecIdentity: NSObject, @unchecked Sendable {  // no state, no instances
    private init(_ nothing: Never) {}
}
