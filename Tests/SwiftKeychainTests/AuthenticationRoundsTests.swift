import Foundation
import KeychainClient
import KeychainModel
import KeychainTestSupport
import SwiftKeychain
import Synchronization
import Testing

/// How often a call asks before it gives up.
@Suite("Rounds of questions")
struct AuthenticationRoundsTests {
    @Test("A keychain that is never satisfied is asked twenty times, as Apple's, and then the call fails")
    func twentyRounds() {
        let engine = InsatiableEngine(asking: [[.applicationPassword]])
        let prompter = ScriptedPrompter()
        for number in 0..<30 { prompter.answer(.text("answer \(number)")) }
        #expect(code(engine, prompter) == .authenticationFailed)
        #expect(engine.requestCount == 20)
        #expect(prompter.questions.count == 20)
    }

    @Test("Where nobody may be asked it is asked once, and nobody is")
    func noQuestions() {
        let engine = InsatiableEngine(asking: [[.passcode], [.biometry]])
        let prompter = ScriptedPrompter(.text("answer"))
        let session = AuthenticationSession()
        session.forbidsInteraction = true
        #expect(code(engine, prompter, session) == .interactionNotAllowed)
        #expect(engine.requestCount == 1)
        #expect(prompter.questions.isEmpty)
    }

    @Test("How a question ends is how the call ends", arguments: endings)
    func ending(failure: PromptFailure, expected: KeychainError.Code) {
        let engine = InsatiableEngine(asking: [[.passcode]])
        #expect(code(engine, ScriptedPrompter(.fail(failure))) == expected)
        #expect(engine.requestCount == 1)
    }

    private static let endings: [(PromptFailure, KeychainError.Code)] = [
        (.declined, .userCancelled), (.cancelled, .authenticationFailed), (.timedOut, .authenticationFailed),
        (.failed("it broke"), .authenticationFailed), (.unavailable("nothing"), .interactionNotAllowed),
    ]

    private func code(
        _ engine: InsatiableEngine, _ prompter: ScriptedPrompter, _ session: AuthenticationSession? = nil
    ) -> KeychainError.Code? {
        let connection = Connection(engine: engine, caller: Caller(groups: ["G"]), prompter: prompter)
        do throws(KeychainError) {
            _ = try connection.ask(.delete(ItemQuery(.genericPassword)), Asking(in: session))
            return nil
        } catch {
            return error.code
        }
    }
}

/// Wants to be shown the same again and again.
private final class InsatiableEngine: RequestHandler {
    private let challenge: AuthenticationChallenge
    private let count = Mutex(0)

    init(asking alternatives: [Set<AuthenticationFactor>]) { challenge = AuthenticationChallenge(alternatives) }

    var requestCount: Int { count.withLock { $0 } }

    func handle(_ request: Request, from _: Caller) throws(KeychainError) -> Reply {
        count.withLock { $0 += 1 }
        return .authenticationNeeded(challenge)
    }

    func waitForLockChange(since epoch: UInt64, timeout _: Duration) throws(KeychainError) -> UInt64 { epoch }
    func listenForLocks() throws(KeychainError) -> any LockListener {
        throw KeychainError(.unimplemented, message: "no locks")
    }
    func verifyBiometry(
        for _: Caller, _: Cancellation, hint _: (BiometryHint) -> Void
    ) throws(BiometryFailure) -> BiometryTicket { throw .notAvailable("no reader") }
    func prepareForExit() {}
}
