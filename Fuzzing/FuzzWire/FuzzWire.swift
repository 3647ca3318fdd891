import CFuzzer
import Foundation
import KeychainModel
import KeychainWire

/// The decoders of what comes over a socket. The first byte says in which direction, the second how long the tail is;
/// then come the message and the tail. A decoder may refuse; it may not trap, and what it accepts is the same when it is
/// written and read anew.
@main
struct FuzzWire {
    static func main() {
        var count = CommandLine.argc
        var arguments = CommandLine.unsafeArgv
        exit(LLVMFuzzerRunDriver(&count, &arguments) { fuzzWire($0, $1) })
    }
}

/// Under this name too, because libFuzzer's own `main` is linked and looks for it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzWire(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count >= 2 else { return 0 }
    let input = Data(bytes: start + 2, count: count - 2)
    let tail = input.suffix(Int(start[1]))
    let message = input.dropLast(tail.count)
    let secrets = tail.isEmpty ? nil : SecretBytes(copying: Data(tail))
    if start[0] % 2 == 0 {
        fuzz(message, secrets) { try ClientMessage(message: $0, tail: $1).frame() }
    } else {
        fuzz(message, secrets) { try DaemonMessage(message: $0, tail: $1).frame() }
    }
    return 0
}

/// - Parameter again: Reads a message and writes it anew.
private func fuzz(_ message: Data, _ tail: SecretBytes?, _ again: (Data, SecretBytes?) throws -> WireFrame) {
    guard let first = try? again(message, tail) else { return }
    let second = try! again(Data(first.message), first.tail)
    precondition(second.message == first.message, "a message was changed")
    precondition(second.tail?.copyData() == first.tail?.copyData(), "secrets were changed")
}

extension WireFrame {
    /// As it is read from a socket: nil if there are no bytes.
    fileprivate var tail: SecretBytes? {
        let bytes = secrets.reduce(into: Data()) { $0 += $1.copyData() }
        return bytes.isEmpty ? nil : SecretBytes(copying: bytes)
    }
}
