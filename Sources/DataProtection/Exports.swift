// KeychainConfiguration, which ProtectedFiles takes, is the client floor's.
@_exported public import KeychainClient
