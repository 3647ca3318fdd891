import Foundation
import KeychainSecurity
import KeychainTestSupport
import Testing

/// C.16 and C.24 to C.27: the kinds of value an attribute takes, and what equals what.
struct ValueTests {
    private let item = Fixtures.generic

    @Test(
        "C.16 A text and the data of its UTF-8 bytes name one item, which keeps what it was given",
        arguments: KeychainHost.everyHost)
    func textAndDataAreEqual(host: KeychainHost) throws {
        let asData = item.with([kSecAttrAccount: bytes("a"), kSecAttrService: bytes("s")])
        try table(
            host,
            [
                .add(item, .success),
                .add(asData, .duplicate),
                .find(
                    asData.query.with([kSecReturnAttributes: true]),
                    .dictionary([kSecAttrAccount: "a", kSecAttrService: "s"])),
                .delete(asData.query, .success),
                .add(asData, .success),
                .find(
                    item.query.with([kSecReturnAttributes: true]),
                    .dictionary([kSecAttrAccount: bytes("a"), kSecAttrService: bytes("s")])),
            ])
    }

    @Test("C.24 A number may be given as a Boolean or as its decimal text", arguments: KeychainHost.everyHost)
    func numbers(host: KeychainHost) throws {
        let internet = Fixtures.internet
        try table(
            host,
            [
                .add(internet.with([kSecAttrPort: "443", kSecAttrIsNegative: true]), .success),
                .add(internet.with([kSecAttrPort: 443]), .duplicate),
                .find(
                    internet.query.with([kSecAttrPort: 443, kSecReturnAttributes: true]),
                    .dictionary([
                        kSecAttrPort: 443, kSecAttrIsNegative: 1, kSecAttrProtocol: kSecAttrProtocolHTTP,
                    ])),
                .find(internet.query.with([kSecAttrPort: "443", kSecAttrIsNegative: 1]), .success),
                .find(internet.query.with([kSecAttrPort: "0443"]), .notFound),
                .find(internet.query.with([kSecAttrPort: 444]), .notFound),
            ])
    }

    @Test("C.25 A value of a kind that the attribute does not take is refused", arguments: KeychainHost.everyHost)
    func otherKindsAreRefused(host: KeychainHost) throws {
        let misfits: [Item] = [
            [kSecAttrAccount: Date(timeIntervalSince1970: 0)],
            [kSecAttrAccount: NSNull()],
            [kSecAttrAccount: ["a"]],
            [kSecAttrCreator: Data([1])],
            [kSecAttrCreationDate: "today"],
            [kSecAttrCreationDate: Date(timeIntervalSinceReferenceDate: .infinity)],
            [kSecAttrCreationDate: Date(timeIntervalSinceReferenceDate: .nan)],
            [kSecAttrAccessGroup: 1],
            [kSecAttrSynchronizable: "maybe"],
        ]
        let rows = misfits.flatMap { misfit -> [Row] in
            [.find(item.query.with(misfit), .parameter), .update(item.query, misfit, .parameter)]
        }
        try table(
            host,
            [
                .add(item.with([kSecAttrAccount: Date(timeIntervalSince1970: 0)]), .parameter),
                .add(item.with([kSecValueData: "text"]), .parameter),
                .add(item, .success),
            ] + rows + [.find(item.query.with([kSecReturnData: true]), .data(Fixtures.secret))])
    }

    @Test("C.26 Any bytes come back as account, label and secret", arguments: KeychainHost.everyHost)
    func anyBytes(host: KeychainHost) throws {
        let samples = [
            Data([0]), Data([0xff, 0xfe, 0x00, 0x0a]), bytes("line\nline\n"), bytes("n\u{0}l"), bytes("ü 🔑"),
            Data((0...255).map { UInt8($0) }),
        ]
        let rows = samples.flatMap { sample -> [Row] in
            let values: Item = [kSecAttrAccount: sample, kSecAttrLabel: sample, kSecValueData: sample]
            let query = item.with(values).query
            return [
                .add(item.with(values), .success),
                .add(item.with(values), .duplicate),
                .find(query.with([kSecReturnAttributes: true, kSecReturnData: true]), .dictionary(values)),
            ]
        }
        try table(host, rows)
    }

    @Test("C.27 Texts that differ in form alone are different accounts", arguments: KeychainHost.everyHost)
    func textsAreBytes(host: KeychainHost) throws {
        let composed: Item = [kSecAttrAccount: "\u{e9}"]
        let decomposed: Item = [kSecAttrAccount: "e\u{301}"]
        try table(
            host,
            [
                .add(item.with(composed), .success),
                .find(item.query.with(decomposed), .notFound),
                .add(item.with(decomposed), .success),
                .find(item.query.with(composed), .success),
            ])
    }
}
