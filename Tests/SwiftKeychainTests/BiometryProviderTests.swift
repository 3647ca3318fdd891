import Foundation
import KeychainClient
import KeychainModel
import KeychainTestSupport
import SwiftKeychain
import Synchronization
import Testing

/// Readers that programs bring along.
@Suite("Readers of programs' own")
struct BiometryProviderTests {
    @Test("Items for the current set of a provider's open for somebody it knows, as long as the set is the same")
    func items() throws {
        let camera = Camera()
        try withKeychain(biometry: ProvidedReader(camera)) { keychain in
            var request = AddRequest(.genericPassword)
            request.secret = .of("secret")
            request.accessControl = try AccessControl(.whenUnlocked, flags: .biometryCurrentSet)
            let find = Question.find(ItemQuery(.genericPassword), wantsSecrets: true)
            #expect(code { _ = try Connection.current.ask(.add(request), Asking()) } == .authenticationFailed)
            camera.set(enrolled: Data("ada".utf8), sees: true)
            #expect(code { _ = try Connection.current.ask(.add(request), Asking()) } == nil)
            #expect(code { _ = try Connection.current.ask(find, Asking()) } == nil)
            camera.set(enrolled: Data("ada".utf8), sees: false)
            #expect(code { _ = try Connection.current.ask(find, Asking()) } == .authenticationFailed)
            camera.set(enrolled: Data("ada and eve".utf8), sees: true)
            #expect(code { _ = try Connection.current.ask(find, Asking()) } == .itemNotFound)
        }
    }

    @Test("What a provider throws is told, and a set that changes while it looks is not taken")
    func failures() {
        let camera = Camera()
        let reader = ProvidedReader(camera)
        #expect(reader.kind == .face)
        #expect(
            failure { try reader.verify(Cancellation()) { _ in } }
                == .notEnrolled("the program's reader knows nobody yet"))
        camera.set(enrolled: nil, sees: true, isBroken: true)
        guard case .notAvailable(let text)? = failure({ try reader.verify(Cancellation()) { _ in } }) else {
            Issue.record("a broken camera is not available")
            return
        }
        #expect(text.contains("lens"))
        camera.set(enrolled: Data("ada".utf8), sees: true, changes: true)
        guard case .failed? = failure({ try reader.verify(Cancellation()) { _ in } }) else {
            Issue.record("nobody knows who was seen")
            return
        }
        camera.set(enrolled: Data("ada".utf8), sees: true)
        let cancelled = Cancellation()
        cancelled.cancel()
        #expect(failure { try reader.verify(cancelled) { _ in } } == .cancelled)
    }

    private func code(_ body: () throws -> Void) -> KeychainError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? KeychainError)?.code
        }
    }

    private func failure(_ body: () throws -> BiometryEnrolment) -> BiometryFailure? {
        do {
            _ = try body()
            return nil
        } catch {
            return error as? BiometryFailure
        }
    }
}

private final class Camera: BiometryProvider {
    private struct Broken: LocalizedError {
        var errorDescription: String? { "the lens is covered" }
    }

    private let state = Mutex((enrolled: Data?.none, sees: false, isBroken: false, changes: false))

    var kind: KeychainBiometry.Kind { .face }

    func set(enrolled: Data?, sees: Bool, isBroken: Bool = false, changes: Bool = false) {
        state.withLock { $0 = (enrolled, sees, isBroken, changes) }
    }

    func enrolledSet() throws -> Data? {
        try state.withLock { state in
            if state.isBroken { throw Broken() }
            return state.enrolled
        }
    }

    func verify(_ attempt: BiometryAttempt) throws -> Bool {
        attempt.withCancellationHandler({}) {
            state.withLock { state in
                if state.changes { state.enrolled?.append(0) }
                return state.sees && !attempt.isCancelled
            }
        }
    }
}
