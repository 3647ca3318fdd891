public import Foundation

/// The type stands for a certificate chain under evaluation, and nothing makes an instance of it yet.
///
/// Declarations and casts that name the type compile. The functions that evaluate trust are absent, so that code which
/// needs them does not build instead of failing later.
public final class SecTrust: NSObject, @unchecked Sendable {  // no state, no instances
    private init(_ nothing: Never) {}
}
