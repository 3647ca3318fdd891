// KeychainError is the model's: one type of error from the engine to the program.
@_exported public import KeychainClient
@_exported public import KeychainModel
