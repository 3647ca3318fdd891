import Foundation
import KeychainModel
import KeychainTestSupport
import KeychainWire

/// Reads messages and writes them anew, for another implementation to compare (Scripts/check-wire).
///
/// A line of input is a kind (client, daemon, metadata), a message and a tail, both in base64, "-" for none. The line that
/// answers it is what was written, in the same form without the kind, or the word "refused" and why.
enum WireEcho {
    static func run() throws {
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 3, let message = bytes(words[1]), let tail = bytes(words[2]) else {
                throw HelperFailure("'\(line)' is no message")
            }
            do {
                say(try again(words[0], message, tail.isEmpty ? nil : SecretBytes(copying: tail)))
            } catch {
                say("refused \(error)")
            }
        }
    }

    private static func again(_ kind: String, _ message: Data, _ tail: SecretBytes?) throws -> String {
        switch kind {
        case "client":
            return line(try ClientMessage(message: message, tail: tail).frame(nonce: ClientMessage.nonce(of: message)))
        case "daemon": return line(try DaemonMessage(message: message, tail: tail).frame())
        case "metadata":
            let (item, secretTag) = try message.withUnsafeBytes { bytes in
                try Item.decode(metadata: bytes, of: .genericPassword, UUID(), AccessControl(.always))
            }
            return line(WireFrame(message: item.encodedMetadata(secretTag: secretTag)))
        default: throw HelperFailure("there is no kind '\(kind)'")
        }
    }

    private static func line(_ frame: WireFrame) -> String {
        let tail = frame.secrets.reduce(into: Data()) { $0 += $1.copyData() }
        return [Data(frame.message), tail].map { $0.isEmpty ? "-" : $0.base64EncodedString() }.joined(separator: " ")
    }

    private static func bytes(_ word: String) -> Data? { word == "-" ? Data() : Data(base64Encoded: word) }
}
