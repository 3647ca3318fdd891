import Foundation
import KeychainSecurity
import KeychainTestSupport
import Testing

/// K13 to K24: what keys say of themselves, and their bytes.
struct K13FormTests {
    private static let pairs: [Pair] = [.rsa1024, .rsa2048] + Pair.curves

    @Test("K.13 A key tells class and type as texts, and sizes and flags as numbers", arguments: pairs, [false, true])
    func attributes(pair: Pair, isPrivate: Bool) throws {
        let key = try isPrivate ? pair.key : pair.publicKey
        var attributes = try key.attributes
        let isDerived = pair.isCurve && isPrivate
        for (name, text) in [
            "class": "keys", "kcls": isPrivate ? "1" : "0", "type": pair.isCurve ? "73" : "42",
        ] {
            #expect(attributes.removeValue(forKey: name) as? String == text, "\(name)")
        }
        #expect(attributes.removeValue(forKey: "v_Data") as? Data == (try key.bytes))
        #expect((attributes.removeValue(forKey: "klbl") as? Data)?.count == 20)
        let flags: [String: Bool] = [
            "perm": true, "priv": true, "modi": true, "extr": true, "sens": false, "asen": false, "next": false,
            "snrc": false, "vyrc": false, "encr": !isPrivate, "decr": isPrivate, "drve": isDerived, "sign": isPrivate,
            "vrfy": !isPrivate, "wrap": !isPrivate, "unwp": isPrivate,
        ]
        let numbers = flags.mapValues { $0 ? 1 : 0 }.merging(["bsiz": pair.bits, "esiz": pair.bits]) { $1 }
        for (name, number) in numbers {
            #expect(attributes.removeValue(forKey: name) as? NSNumber == NSNumber(value: number), "\(name)")
        }
        // No label, tag, group or date: those are the row's.
        #expect(attributes.keys.sorted() == [])
    }

    @Test("K.14 Both halves are labelled with SHA-1 of the public bytes", arguments: pairs)
    func label(pair: Pair) throws {
        let expected = try OpenSSL.digest("sha1", of: pair.publicKey.bytes)
        #expect(try pair.key.attributes["klbl"] as? Data == expected)
        #expect(try pair.publicKey.attributes["klbl"] as? Data == expected)
    }

    @Test("K.15 A key is read from the bytes that it was written to", arguments: pairs, [false, true])
    func roundTrip(pair: Pair, isPrivate: Bool) throws {
        let key = try isPrivate ? pair.key : pair.publicKey
        let read = try SecKey.read(
            try key.bytes, pair.type, isPrivate ? kSecAttrKeyClassPrivate : kSecAttrKeyClassPublic)
        #expect(read == key && read !== key)
        #expect(try read.bytes == (try key.bytes))
        #expect(try read.publicKey == (try key.publicKey))
        #expect(areEqual(try read.attributes, try key.attributes))
    }

    @Test("K.15 OpenSSL reads what is written, and writes the same", arguments: pairs)
    func openSSLReads(pair: Pair) throws {
        let words = pair.isCurve ? ["ec"] : ["rsa", "-traditional"]
        let files = ["key": try pair.openSSLPrivate]
        let again = try OpenSSL.output(words + ["-inform", "DER", "-in", "key", "-outform", "DER"], files)
        #expect(again == files["key"])
        let half = try OpenSSL.output(words + ["-inform", "DER", "-in", "key", "-pubout", "-outform", "DER"], files)
        #expect(half == (try pair.openSSLPublic))
        #expect(try OpenSSL.run(["pkey", "-inform", "DER", "-in", "key", "-check", "-noout"], files).status == 0)
    }

    @Test("K.16 The bytes of keys on curves have fixed lengths", arguments: zip(Pair.curves, [32, 48, 66]))
    func lengths(pair: Pair, field: Int) throws {
        let (whole, half) = (try pair.key.bytes, try pair.publicKey.bytes)
        #expect(whole.count == 1 + 3 * field)
        #expect(half.count == 1 + 2 * field)
        #expect(half.first == 4)
        #expect(whole.prefix(half.count) == half)
    }

    @Test("K.17 A public RSA key is read from a certificate's form too, and written as PKCS#1")
    func publicKeyInfo() throws {
        let info = try Pair.rsa2048.openSSLPublic
        let key = try SecKey.read(info, kSecAttrKeyTypeRSA, kSecAttrKeyClassPublic)
        #expect(try key.bytes == (try Pair.rsa2048.publicKey.bytes))
        #expect(throws: Failure.parameter) {
            try SecKey.read(info + Data([0]), kSecAttrKeyTypeRSA, kSecAttrKeyClassPublic)
        }
        let ofCurve = try Pair.p256.openSSLPublic
        for type in [kSecAttrKeyTypeRSA, kSecAttrKeyTypeECSECPrimeRandom] {
            #expect(throws: Failure.parameter) { try SecKey.read(ofCurve, type, kSecAttrKeyClassPublic) }
        }
    }

    @Test("K.18 PKCS#8 and PEM are refused", arguments: [Pair.rsa1024, .p256], [false, true])
    func otherForms(pair: Pair, isPEM: Bool) throws {
        let bytes = try OpenSSL.output(
            ["pkcs8", "-topk8", "-nocrypt", "-inform", "DER", "-in", "key", "-outform", isPEM ? "PEM" : "DER"],
            ["key": pair.openSSLPrivate])
        #expect(throws: Failure.parameter) { try SecKey.read(bytes, pair.type, kSecAttrKeyClassPrivate) }
        let sec1 = try pair.openSSLPrivate
        if pair.isCurve {
            #expect(throws: Failure.parameter) { try SecKey.read(sec1, pair.type, kSecAttrKeyClassPrivate) }
        }
    }

    @Test("K.19 What is no uncompressed point of a curve is no public key", arguments: Pair.curves)
    func points(pair: Pair) throws {
        let point = try pair.publicKey.bytes
        let field = (point.count - 1) / 2
        let wrong: [String: Data] = [
            "compressed": Data([2 + (point.last! & 1)]) + point[1...field],
            "hybrid": Data([6 + (point.last! & 1)]) + point[1...],
            "off the curve": point.flipping(point.count - 1),
            "zero": Data([4]) + Data(count: 2 * field),
            "infinity": Data([0]),
            "coordinates beyond the field": Data([4]) + Data(repeating: 0xff, count: 2 * field),
            "cut off": point.dropLast(),
            "too long": point + Data([0]),
            "without its mark": point.dropFirst(),
            "a private half": try pair.key.bytes,
        ]
        for (title, bytes) in wrong {
            #expect(throws: Failure.parameter, "\(title)") {
                try SecKey.read(Data(bytes), pair.type, kSecAttrKeyClassPublic)
            }
        }
    }

    @Test("K.19 A private half needs a number, and the one that belongs to the point", arguments: Pair.curves)
    func numbers(pair: Pair) throws {
        let whole = try pair.key.bytes
        let field = (whole.count - 1) / 3
        let point = Data(whole.dropLast(field))
        let wrong: [String: Data] = [
            "another number": whole.flipping(whole.count - 1),
            "zero": point + Data(count: field),
            "beyond the order": point + Data(repeating: 0xff, count: field),
            "another point": try SecKey.make(pair.type, pair.bits).publicKey.bytes + whole.suffix(field),
            "cut off": whole.dropLast(),
            "the number alone": whole.suffix(field),
            "the public half": point,
        ]
        for (title, bytes) in wrong {
            #expect(throws: Failure.parameter, "\(title)") {
                try SecKey.read(Data(bytes), pair.type, kSecAttrKeyClassPrivate)
            }
        }
    }

    @Test("K.20 Type and class have to be there, and to be such as there are")
    func typeAndClass() throws {
        let point = try Pair.p256.publicKey.bytes
        let whole: Item = [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass: kSecAttrKeyClassPublic,
        ]
        #expect(throws: Failure.parameter) { try SecKey.read(point, whole.without(kSecAttrKeyType)) }
        #expect(throws: Failure.parameter) { try SecKey.read(point, whole.without(kSecAttrKeyClass)) }
        for value: Any in ["7", 7, "", Data([0]), -1] {
            #expect(throws: Failure.parameter) { try SecKey.read(point, whole.with([kSecAttrKeyClass: value])) }
            #expect(throws: Failure.parameter) { try SecKey.read(point, whole.with([kSecAttrKeyType: value])) }
        }
        #expect(throws: Failure.unimplemented) {
            try SecKey.read(point, whole.with([kSecAttrKeyClass: kSecAttrKeyClassSymmetric]))
        }
    }

    @Test("K.21 Type and class may be numbers")
    func asNumbers() throws {
        let key = try SecKey.read(
            try Pair.p384.key.bytes, [kSecAttrKeyType: NSNumber(value: 73), kSecAttrKeyClass: NSNumber(value: 1)])
        #expect(key == Pair.p384.key)
        let half = try SecKey.read(try Pair.rsa1024.publicKey.bytes, [kSecAttrKeyType: 42, kSecAttrKeyClass: 0])
        #expect(half == (try Pair.rsa1024.publicKey))
    }

    @Test("K.22 A size in the attributes is ignored", arguments: [1024, 0, "many"] as [any Sendable])
    func size(size: any Sendable) throws {
        let key = try SecKey.read(
            try Pair.rsa2048.key.bytes,
            [
                kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
                kSecAttrKeySizeInBits: size,
            ])
        #expect(try key.attributes["bsiz"] as? Int == 2048)
        #expect(key.blockSize == 256)
    }

    @Test("K.23 The public half of a public half is itself, and equal halves are equal", arguments: pairs)
    func equality(pair: Pair) throws {
        let half = try pair.publicKey
        #expect(try half.publicKey === half)
        let again = try SecKey.read(try half.bytes, pair.type, kSecAttrKeyClassPublic)
        #expect(again == half && again.hash == half.hash)
        #expect(half != pair.key)
        let other: Pair = pair == .p256 ? .p384 : .p256
        #expect(try half != other.publicKey)
        #expect(!half.isEqual("text") && !half.isEqual(nil))
    }

    @Test("K.24 Bytes that are no key are refused, with a place for the error and without one", arguments: pairs)
    func garbage(pair: Pair) throws {
        for keyClass in [kSecAttrKeyClassPrivate, kSecAttrKeyClassPublic] {
            let bytes = try (keyClass == kSecAttrKeyClassPrivate ? pair.key : pair.publicKey).bytes
            let wrong = [
                Data(), Data([0x30]), Data(repeating: 0x30, count: bytes.count), bytes.dropLast(), bytes + Data([0]),
            ]
            for wrong in wrong {
                #expect(throws: Failure.parameter) { try SecKey.read(Data(wrong), pair.type, keyClass) }
                let attributes: Item = [kSecAttrKeyType: pair.type, kSecAttrKeyClass: keyClass]
                #expect(SecKeyCreateWithData(Data(wrong) as NSData, attributes as CFDictionary, nil) == nil)
            }
        }
    }

    @Test("K.24 An RSA key of another size than keys have, and one with a hopeless exponent, is refused")
    func sizesOfRSA() throws {
        func key(bits: Int, exponent: [UInt8] = [1, 0, 1]) -> Data {
            var modulus = Data(repeating: 0xff, count: (bits + 7) / 8)
            if bits % 8 > 0 { modulus[0] = UInt8(1 << (bits % 8) - 1) }
            if modulus[0] >= 0x80 { modulus = Data([0]) + modulus }
            return OpenSSL.node(0x30, OpenSSL.node(0x02, modulus) + OpenSSL.node(0x02, Data(exponent)))
        }
        func read(_ bytes: Data) throws -> SecKey { try .read(bytes, kSecAttrKeyTypeRSA, kSecAttrKeyClassPublic) }
        for bits in [512, 513, 1001, 8192] { #expect(try read(key(bits: bits)).blockSize == (bits + 7) / 8) }
        for bits in [8, 511, 8193, 16384] {
            #expect(throws: Failure.parameter, "\(bits)") { try read(key(bits: bits)) }
        }
        for exponent: [UInt8] in [
            [1], [0], [2], [1, 0, 0], [0xff, 0xff], [0x7f] + [UInt8](repeating: 0xff, count: 8),
        ] {
            #expect(throws: Failure.parameter, "\(exponent)") { try read(key(bits: 1024, exponent: exponent)) }
        }
    }

    @Test("K.24 An RSA key whose numbers do not belong together is refused")
    func inconsistent() throws {
        let bytes = try Pair.rsa1024.key.bytes
        // The last byte is in the coefficient, and the one in the middle in an exponent or a prime.
        for place in [bytes.count - 1, bytes.count / 2, 20] {
            #expect(throws: Failure.parameter, "\(place)") {
                try SecKey.read(bytes.flipping(place), kSecAttrKeyTypeRSA, kSecAttrKeyClassPrivate)
            }
        }
    }
}
