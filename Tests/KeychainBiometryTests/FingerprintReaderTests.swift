import Foundation
import KeychainBiometry
import KeychainModel
import KeychainTestSupport
import Testing

/// Runs `body` with a virtual reader and what reads it.
private func withReader(
    _ service: VirtualFingerprints.Service = .running, touch: Duration = FingerprintLimits().touch,
    _ body: (VirtualFingerprints, FingerprintReader) throws -> Void
) throws {
    let fingerprints = try VirtualFingerprints(service)
    defer { fingerprints.stop() }
    var limits = FingerprintLimits()
    limits.touch = touch
    try body(fingerprints, FingerprintReader(busAddress: fingerprints.busAddress, limits: limits))
}

extension FingerprintReader {
    /// Verifies without telling anybody what to do.
    fileprivate func verify() throws(BiometryFailure) -> BiometryEnrolment { try verify(Cancellation()) { _ in } }
}

/// What a reader throws; nil: nothing.
private func failure(_ body: () throws(BiometryFailure) -> BiometryEnrolment) -> BiometryFailure? {
    do throws(BiometryFailure) {
        _ = try body()
        return nil
    } catch {
        return error
    }
}

extension BiometryFailure? {
    fileprivate func isNotAvailable(saying text: String) -> Bool {
        if case .notAvailable(let message) = self { message.contains(text) } else { false }
    }

    fileprivate func isNotEnrolled(saying text: String) -> Bool {
        if case .notEnrolled(let message) = self { message.contains(text) } else { false }
    }

    fileprivate func isFailed(saying text: String) -> Bool {
        if case .failed(let message) = self { message.contains(text) } else { false }
    }

    fileprivate var isBusy: Bool {
        if case .busy = self { true } else { false }
    }
}

// One after the other: each has processes of its own, and a reader that loses patience on a machine that is too busy.
@Suite(.serialized) struct FingerprintVerificationTests {
    @Test("A finger that is enrolled is recognised, and what is enrolled comes with it")
    func match() throws {
        try withReader { fingerprints, reader in
            try fingerprints.enrol("right-index-finger", seen: "anna")
            try fingerprints.touch("anna")
            var hints: [String] = []
            let enrolment = try reader.verify(Cancellation()) { hints.append($0.text) }
            #expect(try enrolment == reader.enrolment())
            #expect(enrolment.kind == .fingerprint && enrolment.digest.count == BiometryEnrolment.digestByteCount)
            #expect(hints == ["swipe your right index finger across the fingerprint reader"])
            // It is free again.
            try fingerprints.claim()
        }
    }

    @Test("Any of several fingers is recognised")
    func anyFinger() throws {
        try withReader { fingerprints, reader in
            try fingerprints.makePressed()
            try fingerprints.enrol("right-index-finger", seen: "right")
            try fingerprints.enrol("left-thumb", seen: "left")
            for finger in ["left", "right"] {
                try fingerprints.touch(finger)
                var hints: [String] = []
                _ = try reader.verify(Cancellation()) { hints.append($0.text) }
                #expect(hints == ["touch the fingerprint reader"])
            }
        }
    }

    @Test("The person may try again, and is told so")
    func secondAttempt() throws {
        try withReader { fingerprints, reader in
            try fingerprints.enrol(seen: "anna")
            try fingerprints.touch("berta")
            try fingerprints.touch("anna")
            var hints: [String] = []
            _ = try reader.verify(Cancellation()) { hints.append($0.text) }
            #expect(hints.count == 2)
            #expect(hints.last?.hasPrefix("that finger was not recognised: swipe") == true)
        }
    }

    @Test("After three other fingers it is a no")
    func noMatch() throws {
        try withReader { fingerprints, reader in
            try fingerprints.enrol(seen: "anna")
            for _ in 1...3 { try fingerprints.touch("berta") }
            // Nobody asks for that any more.
            try fingerprints.touch("anna")
            #expect(failure(reader.verify) == .noMatch)
            try fingerprints.claim()
        }
    }

    @Test("Where the reader could not see well enough it goes on", arguments: VirtualFingerprints.Retry.allCases)
    func retry(kind: VirtualFingerprints.Retry) throws {
        try withReader { fingerprints, reader in
            try fingerprints.enrol(seen: "anna")
            // More often than fingers may fail to match.
            for _ in 1...4 { try fingerprints.retry(kind) }
            try fingerprints.touch("anna")
            var hints: [String] = []
            _ = try reader.verify(Cancellation()) { hints.append($0.text) }
            #expect(hints.count == 5)
            #expect(Set(hints).count == 2)
            #expect(hints.last?.hasSuffix("swipe again") == true)
        }
    }

    @Test("Nobody comes")
    func timeout() throws {
        try withReader(touch: .milliseconds(50)) { fingerprints, reader in
            try fingerprints.enrol(seen: "anna")
            #expect(failure(reader.verify) == .timedOut)
            try fingerprints.claim()
        }
    }

    @Test("A cancellation ends it at once, and the reader is free")
    func cancellation() throws {
        try withReader { fingerprints, reader in
            try fingerprints.enrol(seen: "anna")
            let cancellation = Cancellation()
            let start = ContinuousClock.now
            let failure = failure { () throws(BiometryFailure) in
                try reader.verify(cancellation) { _ in Thread.detachNewThread { cancellation.cancel() } }
            }
            #expect(failure == .cancelled)
            #expect(ContinuousClock.now - start < FingerprintLimits().touch / 2)
            try fingerprints.claim()
        }
    }

    @Test("What is cancelled before does not ask anybody")
    func cancelledBefore() throws {
        try withReader { fingerprints, reader in
            try fingerprints.enrol(seen: "anna")
            try fingerprints.touch("anna")
            let cancellation = Cancellation()
            cancellation.cancel()
            var hints = 0
            let failure = failure { () throws(BiometryFailure) in
                try reader.verify(cancellation) { _ in hints += 1 }
            }
            #expect(failure == .cancelled)
            #expect(hints == 0)
        }
    }

    @Test("Another program has the reader, and lets go of it")
    func busy() throws {
        try withReader { fingerprints, reader in
            try fingerprints.enrol(seen: "anna")
            try fingerprints.claim()
            #expect(failure(reader.verify).isBusy)
            // Which does not keep anybody from looking.
            let enrolment = try reader.enrolment()
            try fingerprints.release()
            try fingerprints.touch("anna")
            #expect(try reader.verify() == enrolment)
        }
    }

    @Test("Of two verifications at once the second is refused, and the first goes on")
    func twoAtOnce() throws {
        try withReader { fingerprints, reader in
            try fingerprints.enrol(seen: "anna")
            var second: BiometryFailure?
            var isTouched: (any Error)?
            _ = try reader.verify(Cancellation()) { _ in
                second = failure(reader.verify)
                do { try fingerprints.touch("anna") } catch { isTouched = error }
            }
            #expect(second.isBusy)
            #expect(isTouched == nil)
        }
    }

    @Test("What another program says in fprintd's place is not believed")
    func forged() throws {
        try withReader(touch: .milliseconds(500)) { fingerprints, reader in
            try fingerprints.enrol(seen: "anna")
            var problem: (any Error)?
            let outcome = failure { () throws(BiometryFailure) in
                try reader.verify(Cancellation()) { _ in
                    do { try fingerprints.fake("verify-match") } catch { problem = error }
                }
            }
            #expect(outcome == .timedOut)
            #expect(problem == nil)
        }
    }

    @Test("What another program says in fprintd's place does not end it either")
    func forgedFailure() throws {
        try withReader { fingerprints, reader in
            try fingerprints.enrol(seen: "anna")
            var problem: (any Error)?
            _ = try reader.verify(Cancellation()) { _ in
                do {
                    try fingerprints.fake("verify-disconnected")
                    try fingerprints.touch("anna")
                } catch { problem = error }
            }
            #expect(problem == nil)
        }
    }

    @Test("The reader is unplugged meanwhile")
    func unplugged() throws {
        // On a busy machine the virtual reader may give up before it is unplugged, which says nothing of that: then another
        // one is tried.
        for attempt in 1...5 {
            var gaveUp = false
            try withReader { fingerprints, reader in
                try fingerprints.enrol(seen: "anna")
                try fingerprints.unplug()
                let outcome = failure(reader.verify)
                gaveUp = outcome.isFailed(saying: "verify-unknown-error") && attempt < 5
                if gaveUp { return }
                #expect(outcome.isNotAvailable(saying: "unplugged"))
                #expect(failure(reader.enrolment).isNotAvailable(saying: "no fingerprint reader"))
            }
            if !gaveUp { return }
        }
    }

    @Test("The reader fails")
    func broken() throws {
        try withReader { fingerprints, reader in
            try fingerprints.enrol(seen: "anna")
            try fingerprints.breakReader()
            #expect(failure(reader.verify).isFailed(saying: "verify-unknown-error"))
            try fingerprints.claim()
        }
    }

    @Test("fprintd is killed meanwhile")
    func killed() throws {
        try withReader { fingerprints, reader in
            try fingerprints.enrol(seen: "anna")
            var problem: (any Error)?
            let outcome = failure { () throws(BiometryFailure) in
                try reader.verify(Cancellation()) { _ in
                    do { try fingerprints.killService() } catch { problem = error }
                }
            }
            #expect(outcome.isFailed(saying: "fprintd has ended"))
            #expect(problem == nil)
        }
    }

    @Test("Without a finger nobody is asked for one")
    func notEnrolled() throws {
        try withReader { _, reader in
            #expect(failure(reader.verify).isNotEnrolled(saying: "fprintd-enroll"))
        }
    }
}

@Suite(.serialized) struct FingerprintEnrolmentTests {
    @Test("The digest is another one when a finger is enrolled, and the same again without it")
    func change() throws {
        try withReader { fingerprints, reader in
            try fingerprints.enrol("right-index-finger", seen: "right")
            let before = try reader.enrolment()
            try fingerprints.enrol("left-thumb", seen: "left")
            let both = try reader.enrolment()
            #expect(both != before)
            try fingerprints.delete("left-thumb")
            #expect(try reader.enrolment() == before)
            try fingerprints.delete("right-index-finger")
            #expect(failure(reader.enrolment).isNotEnrolled(saying: "fprintd-enroll"))
        }
    }

    @Test("Another finger under the same name is not noticed, because fprintd does not tell")
    func replaced() throws {
        try withReader { fingerprints, reader in
            try fingerprints.enrol("right-index-finger", seen: "anna")
            let before = try reader.enrolment()
            try fingerprints.enrol("right-index-finger", seen: "berta")
            #expect(try reader.enrolment() == before)
        }
    }

    @Test("fprintd is started if it does not run")
    func onDemand() throws {
        try withReader(.onDemand) { fingerprints, reader in
            #expect(failure(reader.enrolment).isNotEnrolled(saying: "fprintd-enroll"))
            try fingerprints.enrol(seen: "anna")
            try fingerprints.touch("anna")
            #expect(try reader.verify() == reader.enrolment())
        }
    }

    @Test("Without a reader it says so")
    func noReader() throws {
        try withReader(.withoutReader) { _, reader in
            #expect(failure(reader.enrolment).isNotAvailable(saying: "no fingerprint reader"))
            #expect(failure(reader.verify).isNotAvailable(saying: "no fingerprint reader"))
        }
    }

    @Test("Without fprintd it says what to install")
    func noService() throws {
        try withReader(.missing) { _, reader in
            #expect(failure(reader.enrolment).isNotAvailable(saying: "install fprintd"))
            #expect(failure(reader.verify).isNotAvailable(saying: "install fprintd"))
        }
    }

    @Test("Where polkit forbids it, it says which rule allows it")
    func denied() throws {
        try withReader { fingerprints, reader in
            try fingerprints.enrol(seen: "anna")
            try fingerprints.allow()
            #expect(failure(reader.enrolment).isNotAvailable(saying: "50-keychain-biometry.rules"))
            #expect(failure(reader.verify).isNotAvailable(saying: "50-keychain-biometry.rules"))
        }
    }

    @Test("No other right is needed than that to verify")
    func verifyAlone() throws {
        try withReader { fingerprints, reader in
            try fingerprints.enrol(seen: "anna")
            try fingerprints.allow(.verify)
            try fingerprints.touch("anna")
            #expect(try reader.verify() == reader.enrolment())
        }
    }

    @Test("Without a bus it says what to install")
    func noBus() throws {
        try withTemporaryDirectory { directory in
            let reader = FingerprintReader(busAddress: "unix:path=\(directory.path)/bus")
            #expect(failure(reader.enrolment).isNotAvailable(saying: "install and start dbus"))
            #expect(failure(reader.verify).isNotAvailable(saying: "install and start dbus"))
        }
    }

    @Test("A bus that says nothing is not waited for without an end")
    func silentBus() throws {
        try withTemporaryDirectory { directory in
            let listener = try SilentListener(at: directory.appendingPathComponent("bus"))
            var limits = FingerprintLimits()
            limits.answer = .milliseconds(50)
            let reader = FingerprintReader(busAddress: "unix:path=\(listener.path)", limits: limits)
            #expect(failure(reader.enrolment).isFailed(saying: "does not answer"))
        }
    }
}

/// A socket whose connections nobody accepts.
private final class SilentListener {
    let path: String
    private let descriptor: Int32

    init(at file: URL) throws {
        path = file.path
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0, listen(descriptor, 8) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    deinit { close(descriptor) }
}
