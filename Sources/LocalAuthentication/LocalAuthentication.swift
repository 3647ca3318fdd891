// A door: code that says `import LocalAuthentication` finds KeychainLocalAuthentication.
@_exported public import KeychainLocalAuthentication
