import CFuzzer
import Foundation
import KeychainCrypto
import KeychainModel

/// Files of keys, as other programs make them. Reading may refuse; it may not trap, and what it accepts is the same key
/// when it is written in any form and read anew.
@main
struct FuzzKeyFile {
    static func main() {
        var count = CommandLine.argc
        var arguments = CommandLine.unsafeArgv
        exit(LLVMFuzzerRunDriver(&count, &arguments) { fuzzKeyFile($0, $1) })
    }
}

/// Under this name too, because libFuzzer's own `main` is linked and looks for it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzKeyFile(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    switch try? KeyFile(Data(bytes: start, count: count)) {
    case .key(let key): fuzz(key)
    // Opening takes as long as the input asks for, and what comes out is no input of the fuzzer's.
    case .encrypted, nil: break
    }
    return 0
}

private func fuzz(_ key: AsymmetricKey) {
    for format in KeyFileFormat.allCases where format != .jwk {
        guard case .key(let again) = try! KeyFile(format.bytes(of: key)) else { fatalError("a passphrase was added") }
        precondition(again.publicBytes == key.publicBytes, "the key was changed")
        precondition(again.isPrivate == (key.isPrivate && format != .spki), "the half was changed")
    }
    _ = try! KeyFileFormat.jwk.bytes(of: key)
}
