// A door: code that says `import Security` finds KeychainSecurity.
@_exported public import KeychainSecurity
