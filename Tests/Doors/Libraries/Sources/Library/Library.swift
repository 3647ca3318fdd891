import Security

/// A status, by a name of Apple's.
public let status: OSStatus = errSecSuccess
