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
}
