import KeychainModel
import Testing

@Suite struct AccessControlTests {
    static let controls: [AccessControl] = [
        AccessControl(.whenUnlocked), AccessControl(.whenPasscodeSetThisDeviceOnly),
        try! AccessControl(.always, flags: [.devicePasscode, .or, .biometryAny]),
        try! AccessControl(.afterFirstUnlock, flags: [.userPresence, .applicationPassword]).constrainingDeletion(),
        try! AccessControl(.whenUnlocked, flags: .biometryCurrentSet).bound(
            to: BiometryEnrolment(kind: BiometryKind.allCases[0], digest: Array(repeating: 7, count: 32))),
    ]

    @Test("Those one byte apart are exactly what changing any byte to any value makes", arguments: controls)
    func oneByteApart(control: AccessControl) throws {
        let bytes = control.canonicalBytes
        var expected: [[UInt8]] = []
        for index in bytes.indices {
            for value in 0...UInt8.max where value != bytes[index] {
                var changed = bytes
                changed[index] = value
                if let other = try? AccessControl(canonicalBytes: changed) { expected.append(other.canonicalBytes) }
            }
        }
        let found = control.oneByteApart.map(\.canonicalBytes)
        #expect(Set(found) == Set(expected) && found.count == expected.count)
        #expect(found.count > 6)
    }
}
