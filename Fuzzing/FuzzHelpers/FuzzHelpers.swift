import CFuzzer
import Foundation
import KeychainHelpers
import KeychainModel

/// What other tools send to the helpers: the first byte says which tool, and the rest is its message. A parser may refuse; it
/// may not trap, and what git's lines mean is the same when it is written and read anew.
@main
struct FuzzHelpers {
    static func main() {
        var count = CommandLine.argc
        var arguments = CommandLine.unsafeArgv
        exit(LLVMFuzzerRunDriver(&count, &arguments) { fuzzHelpers($0, $1) })
    }
}

/// Under this name too, because libFuzzer's own `main` is linked and looks for it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzHelpers(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 0 else { return 0 }
    let message = UnsafeRawBufferPointer(start: start + 1, count: count - 1)
    let secret = SecretBytes(copying: message)
    switch start[0] {
    case UInt8(ascii: "g"): fuzzGit(message)
    case UInt8(ascii: "s"): fuzzGitSecret(secret)
    case UInt8(ascii: "d"): fuzzDocker(secret)
    case UInt8(ascii: "c"): _ = try? JSONMessage.decode(CargoRequest.self, secret, from: "cargo")
    case UInt8(ascii: "k"):
        let words = message.split(separator: 0, omittingEmptySubsequences: false)
        _ = try? KeyringCommandLine(words.map { String(decoding: $0, as: UTF8.self) })
    default: break
    }
    return 0
}

private func fuzzGit(_ message: UnsafeRawBufferPointer) {
    guard let first = try? GitCredential(parsing: message), let lines = first.lines else { return }
    let again = lines.withUnsafeBytes { try! GitCredential(parsing: $0) }
    precondition(again.lines?.secret().copyData() == lines.secret().copyData(), "a message was changed")
}

private func fuzzGitSecret(_ stored: SecretBytes) {
    let first = GitSecret(stored)
    let second = GitSecret(first.stored)
    precondition(second.main.copyData() == first.main.copyData(), "a password was changed")
    precondition(second.expiry == first.expiry, "a date was changed")
    precondition(second.refreshToken?.copyData() == first.refreshToken?.copyData(), "a token was changed")
}

private func fuzzDocker(_ message: SecretBytes) {
    guard let first = try? JSONMessage.decode(DockerCredential.self, message, from: "docker") else { return }
    let second = try! JSONDecoder().decode(DockerCredential.self, from: try! JSONEncoder().encode(first))
    precondition(first == second, "a credential was changed")
}
