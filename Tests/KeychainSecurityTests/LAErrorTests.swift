import KeychainLocalAuthentication
import Testing

@Suite("LAError")
struct LAErrorTests {
    private let cancelled = NSError(domain: LAErrorDomain, code: -2, userInfo: ["key": "value"])

    @Test("An NSError of the domain casts to it, whatever type it is held as")
    func casts() throws {
        #expect((cancelled as? LAError)?.code == .userCancel)
        #expect((cancelled as any Error as? LAError)?.code == .userCancel)
        #expect((cancelled as Any as? LAError)?.code == .userCancel)
        #expect((cancelled as AnyObject as? LAError)?.code == .userCancel)
        #expect(LAError(_nsError: cancelled).code == .userCancel)
    }

    @Test("An NSError of another domain, or of a code that is not defined, does not cast to it")
    func otherErrors() {
        #expect(NSError(domain: NSCocoaErrorDomain, code: -2) as? LAError == nil)
        #expect(NSError(domain: LAErrorDomain, code: 77) as? LAError == nil)
    }

    @Test("A catch clause that names a code catches errors of that code, as LAError and as NSError")
    func catching() {
        #expect(isCaughtAsCancelled(LAError(.userCancel)))
        #expect(isCaughtAsCancelled(cancelled))
        #expect(!isCaughtAsCancelled(LAError(.systemCancel)))
        #expect(!isCaughtAsCancelled(NSError(domain: NSCocoaErrorDomain, code: -2)))
    }

    @Test("Code that compares numbers has them under the names that C has")
    func numbers() {
        let numbers: [(Int32, LAError.Code)] = [
            (kLAErrorAuthenticationFailed, .authenticationFailed),
            (kLAErrorUserCancel, .userCancel),
            (kLAErrorUserFallback, .userFallback),
            (kLAErrorSystemCancel, .systemCancel),
            (kLAErrorPasscodeNotSet, .passcodeNotSet),
            (kLAErrorBiometryNotAvailable, .biometryNotAvailable),
            (kLAErrorBiometryNotEnrolled, .biometryNotEnrolled),
            (kLAErrorBiometryLockout, .biometryLockout),
            (kLAErrorAppCancel, .appCancel),
            (kLAErrorInvalidContext, .invalidContext),
            (kLAErrorCompanionNotAvailable, .companionNotAvailable),
            (kLAErrorBiometryNotPaired, .biometryNotPaired),
            (kLAErrorBiometryDisconnected, .biometryDisconnected),
            (kLAErrorInvalidDimensions, .invalidDimensions),
            (kLAErrorNotInteractive, .notInteractive),
            (kLAErrorTouchIDNotAvailable, .touchIDNotAvailable),
            (kLAErrorTouchIDNotEnrolled, .touchIDNotEnrolled),
            (kLAErrorTouchIDLockout, .touchIDLockout),
            (kLAErrorWatchNotAvailable, .watchNotAvailable),
        ]
        for (number, code) in numbers { #expect(Int(number) == code.rawValue) }
        #expect(cancelled.code == Int(kLAErrorUserCancel))
    }

    @Test("It keeps its domain, code and details on the way to an NSError and back")
    func roundTrip() throws {
        let error = LAError(.notInteractive, userInfo: [NSLocalizedDescriptionKey: "why"])
        let bridged = error as NSError
        #expect(bridged.domain == "com.apple.LocalAuthentication")
        #expect(bridged.code == -1004)
        #expect(bridged.localizedDescription == "why")
        #expect(bridged as? LAError == error)
        #expect(error.localizedDescription == "why")
        #expect((cancelled as? LAError)?.errorUserInfo["key"] as? String == "value")
    }

    @Test("Codes have Apple's numbers, older names included")
    func codes() {
        let codes: [LAError.Code] = [
            LAError.authenticationFailed, LAError.userCancel, LAError.userFallback, LAError.systemCancel,
            LAError.passcodeNotSet, LAError.biometryNotAvailable, LAError.biometryNotEnrolled,
            LAError.biometryLockout, LAError.appCancel, LAError.invalidContext,
            LAError.companionNotAvailable, LAError.biometryNotPaired, LAError.biometryDisconnected,
            LAError.invalidDimensions, LAError.notInteractive,
        ]
        #expect(codes.map(\.rawValue) == Array((-14 ... -1).reversed()) + [-1004])
        #expect(LAError.touchIDNotAvailable == LAError.biometryNotAvailable)
        #expect(LAError.touchIDNotEnrolled == LAError.biometryNotEnrolled)
        #expect(LAError.touchIDLockout == LAError.biometryLockout)
        #expect(LAError.watchNotAvailable == LAError.companionNotAvailable)
    }

    private func isCaughtAsCancelled(_ error: any Error) -> Bool {
        do {
            throw error
        } catch LAError.userCancel {
            return true
        } catch {
            return false
        }
    }
}
