internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainModel

/// The bytes that an operation with a key takes.
struct KeyInput: ParsableArguments {
    @Argument(help: "The file to take (default: standard input, as with -).", completion: .file()) var file: String?

    func validate() throws {
        if file == "" { throw ValidationError("A file cannot have an empty name.") }
    }

    func read() throws -> Data {
        let message = "the input has more than 64 MiB, which is the most that is taken at once"
        return try FileInput.read(file, limit: SecretInput.limit, otherwise: message).copyData()
    }
}

/// The form of the result of an operation with a key.
struct KeyOutput: ParsableArguments {
    @Flag(help: "Write the result as base64 in one line, instead of its bytes.") var base64 = false

    func write(_ bytes: Data) throws {
        if base64 { return try Console.write(bytes.base64EncodedString() + "\n") }
        try Console.write(SecretBytes(copying: bytes))
    }
}
