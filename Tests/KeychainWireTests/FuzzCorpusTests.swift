import Foundation
import KeychainModel
import KeychainTestSupport
import KeychainWire
import Testing

/// The fuzz entry `Wire` starts from a message of every kind. With `KEYCHAIN_WRITE_CORPUS=1` this writes them.
@Suite struct FuzzCorpusTests {
    private let directory = Repository.file("Fuzzing/Corpus/Wire")

    @Test("The fuzz corpus has a message of every kind in both directions")
    func everyKind() throws {
        if ProcessInfo.processInfo.environment["KEYCHAIN_WRITE_CORPUS"] == "1" { try write() }
        var requests: Set<RequestKind> = []
        var replies: Set<ReplyKind> = []
        var others: Set<DaemonMessageKind> = []
        for file in try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil) {
            let input = try Data(contentsOf: file)
            guard input.count >= 2 else { continue }
            let tail = input.dropFirst(2).suffix(Int(input[1]))
            let secrets = tail.isEmpty ? nil : SecretBytes(copying: Data(tail))
            let message = input.dropFirst(2).dropLast(tail.count)
            if input[0] == 0 {
                guard case .request(_, let request)? = try? ClientMessage(message: message, tail: secrets) else {
                    continue
                }
                requests.insert(RequestKind(request))
            } else if let message = try? DaemonMessage(message: message, tail: secrets) {
                others.insert(DaemonMessageKind(message))
                if case .reply(_, let reply, _) = message { replies.insert(ReplyKind(reply)) }
            }
        }
        #expect(requests == Set(RequestKind.allCases))
        #expect(replies == Set(ReplyKind.allCases))
        #expect(others == Set(DaemonMessageKind.allCases))
    }

    private func write() throws {
        for (place, message) in ClientMessageSamples.all.enumerated() {
            try write(try message.frame(), direction: 0, "client-\(place)")
        }
        for (place, message) in DaemonMessageSamples.all.enumerated() {
            try write(message.frame(), direction: 1, "daemon-\(place)")
        }
    }

    private func write(_ frame: WireFrame, direction: UInt8, _ name: String) throws {
        let tail = frame.tailBytes
        let input = Data([direction, UInt8(tail.count)]) + frame.message + tail
        try input.write(to: directory.appending(path: name))
    }
}
