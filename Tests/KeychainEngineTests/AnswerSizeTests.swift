import Foundation
import KeychainEngine
import KeychainModel
import KeychainTestSupport
import Testing

/// How much one answer may hold.
@Suite struct AnswerSizeTests {
    @Test("An answer that would be too large is refused with advice, and smaller ones to the same items are not")
    func limit() throws {
        try withTemporaryDirectory { directory in
            var configuration = EngineConfiguration.test(in: directory)
            configuration.mostBytesInAnswer = 1 << 20
            let engine = try Engine(configuration)
            let secret = String(repeating: "s", count: 200_000)
            for number in 0..<8 { try engine.add(.password("\(number)", secret: secret)) }
            let error = #expect(throws: KeychainError.self) { try engine.find(.password(limit: .all)) }
            #expect(error?.code == .dataTooLarge)
            #expect(error?.message.contains("with a limit") == true)
            #expect(try engine.find(.password(limit: .all), secrets: false).count == 8)
            #expect(try engine.find(.password(limit: .atMost(5))).count == 5)
            #expect(try engine.secret(of: "7") == secret)
        }
    }

    @Test("Without a limit an answer has everything")
    func noLimit() throws {
        try withTemporaryDirectory { directory in
            let engine = try Engine(.test(in: directory))
            let secret = String(repeating: "s", count: 200_000)
            for number in 0..<8 { try engine.add(.password("\(number)", secret: secret)) }
            #expect(try engine.find(.password(limit: .all)).count == 8)
        }
    }
}
