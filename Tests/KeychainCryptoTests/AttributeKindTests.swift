import Foundation
import KeychainModel
import Testing

@Suite struct AttributeKindTests {
    @Test(
        "Values are coerced as the attribute's kind says",
        arguments: [
            (AttributeKind.blob, AttributeValue.text("a"), AttributeValue.text("a")),
            (.blob, .data(Data([1])), .data(Data([1]))),
            (.blob, .number(5), .number(5)),
            (.blob, .date(1), nil),
            (.data, .text("é"), .data(Data([0xc3, 0xa9]))),
            (.data, .number(-2), .data(Data([0xfe, 0xff, 0xff, 0xff]))),
            (.data, .number(1 << 40), nil),
            (.string, .data(Data("ab".utf8)), .text("ab")),
            (.string, .data(Data([0xff])), nil),
            (.string, .number(1), nil),
            (.number, .text("80"), .number(80)),
            (.number, .text("-1"), .number(-1)),
            (.number, .text("080"), .text("080")),
            (.number, .text("http"), .text("http")),
            (.number, .text("2147483648"), .text("2147483648")),
            (.number, .data(Data()), nil),
            (.date, .date(3), .date(3)),
            (.date, .number(3), nil),
        ] as [(AttributeKind, AttributeValue, AttributeValue?)])
    func coercion(kind: AttributeKind, value: AttributeValue, expected: AttributeValue?) {
        #expect(kind.coerce(value) == expected)
    }

    @Test("An access control survives its stored form, and a broken form is refused")
    func accessControl() throws {
        let original = try AccessControl(.whenUnlockedThisDeviceOnly, flags: [.userPresence, .applicationPassword])
        #expect(try AccessControl(canonicalBytes: original.canonicalBytes) == original)
        for bytes: [UInt8] in [
            [], [6], [5, 0, 0, 0, 0], [6, 0, 0, 0xc0, 0], [6, 0, 0, 0, 0, 0], [6, 0, 0, 0, 0x80],
        ] {
            #expect(throws: KeychainError.self) { try AccessControl(canonicalBytes: bytes) }
        }
    }

    @Test("A bound access control, and one that constrains deletion, are read as written and in no other form")
    func extendedAccessControls() throws {
        let enrolment = BiometryEnrolment(kind: .fingerprint, digest: Array(1...32))
        let plain = try AccessControl(.whenUnlocked, flags: [.biometryCurrentSet, .devicePasscode])
        let extended = [
            plain.constrainingDeletion(), plain.bound(to: enrolment), plain.bound(to: enrolment).constrainingDeletion(),
        ]
        #expect(extended.map(\.canonicalBytes.count) == [6, 38, 38])
        for control in extended {
            let bytes = control.canonicalBytes
            #expect(try AccessControl(canonicalBytes: bytes) == control)
            #expect(control != plain)
            for count in 6..<bytes.count {
                #expect(throws: KeychainError.self) { try AccessControl(canonicalBytes: bytes.prefix(count)) }
            }
            #expect(throws: KeychainError.self) { try AccessControl(canonicalBytes: bytes + [0]) }
            var unknown = bytes
            unknown[5] |= 4
            #expect(throws: KeychainError.self) { try AccessControl(canonicalBytes: unknown) }
        }
        // What no flag asks for has no place there.
        let free = AccessControl(.whenUnlocked).canonicalBytes
        for tail in [[0], [1], [2] + enrolment.digest] as [[UInt8]] {
            #expect(throws: KeychainError.self) { try AccessControl(canonicalBytes: free + tail) }
        }
        #expect(AccessControl(.whenUnlocked).constrainingDeletion() == AccessControl(.whenUnlocked))
        #expect(try AccessControl(.whenUnlocked, flags: .biometryAny).bound(to: enrolment).boundSet == nil)
    }

    @Test("What satisfies an access control follows from its flags", arguments: alternatives)
    func factors(flags: AccessControl.Flags, expected: [Set<AuthenticationFactor>]) throws {
        let control = try AccessControl(.whenUnlocked, flags: flags)
        #expect(Set(control.alternatives(for: .read)) == Set(expected))
        #expect(control.alternatives(for: .delete) == [[]])
        #expect(Set(control.constrainingDeletion().alternatives(for: .delete)).isSuperset(of: expected))
        #expect(control.isSealedWithPasscode == (!expected.isEmpty && expected.allSatisfy { $0.contains(.passcode) }))
    }

    private static let alternatives: [(AccessControl.Flags, [Set<AuthenticationFactor>])] = [
        ([], [[]]), (.userPresence, [[.biometry], [.passcode]]), (.biometryAny, [[.biometry]]),
        (.biometryCurrentSet, [[.biometry]]), (.devicePasscode, [[.passcode]]), (.companion, []),
        (.applicationPassword, [[.applicationPassword]]),
        (
            [.userPresence, .applicationPassword],
            [[.biometry, .applicationPassword], [.passcode, .applicationPassword]]
        ),
        ([.biometryAny, .devicePasscode], [[.biometry, .passcode]]),
        ([.biometryAny, .devicePasscode, .and], [[.biometry, .passcode]]),
        ([.biometryAny, .devicePasscode, .or], [[.biometry], [.passcode]]),
        ([.companion, .devicePasscode, .or], [[.passcode]]), ([.companion, .devicePasscode, .and], []),
        (
            [.biometryAny, .devicePasscode, .or, .applicationPassword],
            [[.biometry, .applicationPassword], [.passcode, .applicationPassword]]
        ),
        (.privateKeyUsage, []), ([.devicePasscode, .privateKeyUsage], []),
    ]
}
