// Files, handles and errors, which programs of this package link without Foundation.
@_exported public import DataProtectionCore
// KeychainConfiguration, which ProtectedFiles takes, is the client floor's.
@_exported public import KeychainClient
