internal import ArgumentParser
internal import FoundationEssentials

/// Bytes in base64 on the command line, as `--json` shows them.
struct Base64Argument: ExpressibleByArgument {
    let bytes: Data

    init?(argument: String) {
        guard let bytes = Data(base64Encoded: argument) else { return nil }
        self.bytes = bytes
    }
}
