import Testing

@testable import KeychainBiometry

@Suite struct FingerprintDigestTests {
    @Test("The digest is as described, so that what is compared with it stays the same from release to release")
    func example() {
        let digest = FingerprintDevice.digest(of: "Reader", fingers: ["right-index-finger", "left-thumb"], user: 1000)
        let digits = digest.map { String(UInt16($0) | 0x100, radix: 16).dropFirst() }.joined()
        #expect(digits == "4c7d5d295f7ac05de3f2f0868ebc992e22b25230dd276af574d0e8b0d35c30ef")
    }

    @Test("Fingers have no order")
    func order() {
        let fingers = ["right-index-finger", "left-thumb", "right-thumb"]
        #expect(
            FingerprintDevice.digest(of: "Reader", fingers: fingers, user: 1)
                == FingerprintDevice.digest(of: "Reader", fingers: fingers.reversed(), user: 1))
    }

    @Test("Reader, user and each finger make another digest")
    func difference() {
        let digests = [
            FingerprintDevice.digest(of: "Reader", fingers: ["left-thumb"], user: 1),
            FingerprintDevice.digest(of: "Reader 2", fingers: ["left-thumb"], user: 1),
            FingerprintDevice.digest(of: "Reader", fingers: ["right-thumb"], user: 1),
            FingerprintDevice.digest(of: "Reader", fingers: ["left-thumb", "right-thumb"], user: 1),
            FingerprintDevice.digest(of: "Reader", fingers: ["left-thumb"], user: 2),
            // The same bytes one after the other.
            FingerprintDevice.digest(of: "Readerleft-thumb", fingers: [], user: 1),
        ]
        #expect(Set(digests).count == digests.count)
    }
}
