import Foundation
import KeychainLocalAuthentication
import KeychainModel
import KeychainSecurity
import KeychainTestSupport
import Testing

/// K52, K53 and K58 to K66: keys that stay in the engine.
struct K52EngineKeyTests {
    private let message = bytes("What is signed")
    private let keys: Item = [kSecClass: kSecClassKey]
    private let reference: Item = [kSecReturnRef: true]

    private let parameters: Item = [
        kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
        kSecAttrTokenID: kSecAttrTokenIDSecureEnclave,
    ]

    private func make(_ attributes: Item = [:]) throws -> SecKey {
        try SecKey.make(parameters.with([kSecPrivateKeyAttrs: attributes]))
    }

    private func make(_ flags: SecAccessControlCreateFlags, _ others: Item = [:]) throws -> SecKey {
        let control = try #require(
            SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, flags, nil))
        return try make(others.with([kSecAttrAccessControl: control]))
    }

    private func expectSigns(_ key: SecKey) throws {
        let signature = try key.sign(message, .ecdsaSignatureMessageX962SHA256)
        try key.publicKey.verify(signature, of: message, .ecdsaSignatureMessageX962SHA256)
    }

    private func expectFails(_ failure: Failure, _ key: SecKey, at location: SourceLocation = #_sourceLocation) throws {
        let point = try key.publicKey
        #expect(throws: failure, sourceLocation: location) { try key.sign(message, .ecdsaSignatureMessageX962SHA256) }
        #expect(throws: failure, sourceLocation: location) { try key.agree(with: point, .ecdhKeyExchangeStandard) }
    }

    // MARK: What it is

    @Test("K.52 A key in the engine is on P-256, and is made there alone", arguments: KeychainHost.everyHost)
    func kinds(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            for change: Item in [
                [kSecAttrKeySizeInBits: 384], [kSecAttrKeySizeInBits: 521],
                [kSecAttrKeyType: kSecAttrKeyTypeRSA],
                [kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeySizeInBits: 2048],
                [kSecAttrSynchronizable: true],
            ] {
                #expect(throws: Failure.parameter, "\(change.summary)") { try SecKey.make(parameters.with(change)) }
            }
            for token in ["com.apple.setoken2", "com.example.card", ""] {
                #expect(throws: Failure.unimplemented) {
                    try SecKey.make(parameters.with([kSecAttrTokenID: token]))
                }
            }
            #expect(throws: Failure.unimplemented) { try make([kSecAttrIsPermanent: false]) }
            #expect(throws: Failure.parameter) { try make([kSecValueData: bytes("mine")]) }
            keychain.run([.find(keys, .notFound)])
        }
    }

    @Test(
        "K.52 It signs, agrees and decrypts, and its public half is an ordinary key", arguments: KeychainHost.everyHost)
    func uses(host: KeychainHost) throws {
        try withKeychain(host) { _ in
            let key = try make()
            let half = try key.publicKey
            #expect(key.blockSize == 32)
            #expect(throws: Failure.unimplemented) { try key.bytes }
            #expect(SecKeyCopyExternalRepresentation(key, nil) == nil)
            let point = try half.bytes
            #expect(point.count == 65)
            for hash in Hash.all {
                let digest = try hash.digest(of: message)
                for algorithm in [hash.x962(.message), hash.rfc4754(.message)] {
                    try half.verify(try key.sign(message, algorithm), of: message, algorithm)
                }
                let signature = try key.sign(digest, hash.x962(.digest))
                let info = OpenSSL.publicKeyInfo(point: point)
                #expect(try OpenSSL.isSignature(signature, of: digest, by: info, ["digest:\(hash.name)"]))
                #expect(throws: Failure.parameter) { try key.sign(message, hash.x962(.digest)) }
                let cipher = try half.encrypt(bytes("a secret"), hash.ecies(variable: false))
                #expect(try key.decrypt(cipher, hash.ecies("ECDHC", variable: false)) == bytes("a secret"))
                #expect(throws: Failure.parameter) {
                    try key.decrypt(cipher.flipping(70), hash.ecies(variable: false))
                }
                let derived: Item = [SecKeyKeyExchangeParameter.requestedSize.rawValue: 40]
                #expect(
                    try key.agree(with: Pair.p256.publicKey, hash.exchange(), derived)
                        == Pair.p256.key.agree(with: half, hash.exchange(), derived))
            }
            try half.verify(try key.sign(Data(), .ecdsaSignatureDigestX962), of: Data(), .ecdsaSignatureDigestX962)
            let plain = SecKeyAlgorithm.ecdhKeyExchangeStandard
            #expect(try key.agree(with: Pair.p256.publicKey, plain) == Pair.p256.key.agree(with: half, plain))
            #expect(throws: Failure.decode) { try key.agree(with: Pair.p384.publicKey, plain) }
            #expect(throws: Failure.unimplemented) { try Pair.p256.key.agree(with: key, plain) }
            #expect(throws: Failure.parameter) { try key.encrypt(message, .eciesEncryptionStandardX963SHA256AESGCM) }
            #expect(throws: Failure.parameter) {
                try key.verify(Data(count: 70), of: message, .ecdsaSignatureMessageX962SHA256)
            }
            #expect(throws: Failure.parameter) { try key.sign(message, .rsaSignatureMessagePSSSHA256) }
        }
    }

    @Test("K.37 K.52 It has the algorithms of a private half on P-256", arguments: KeychainHost.everyCarrier)
    func algorithms(host: KeychainHost) throws {
        try withKeychain(host) { _ in
            let key = try make()
            for (algorithm, name) in Algorithms.all {
                for operation in 0...4 {
                    let operation = try #require(SecKeyOperationType(rawValue: operation))
                    let expected = Pair.p256.key.supports(operation, algorithm)
                    #expect(key.supports(operation, algorithm) == expected, "\(name)")
                }
            }
        }
    }

    @Test("K.52 It says that it never leaves, and says so without bytes", arguments: KeychainHost.everyHost)
    func description(host: KeychainHost) throws {
        try withKeychain(host) { _ in
            let key = try make([kSecAttrLabel: "L"])
            let attributes = try key.attributes
            #expect(attributes["v_Data"] == nil)
            #expect(attributes["tkid"] as? String == "com.apple.setoken")
            #expect(attributes["kcls"] as? String == "1")
            #expect(attributes["type"] as? String == "73")
            #expect(attributes["bsiz"] as? Int == 256)
            #expect(attributes["extr"] as? Int == 0 && attributes["next"] as? Int == 1)
            #expect(attributes["klbl"] as? Data == (try OpenSSL.digest("sha1", of: key.publicKey.bytes)))
            // Its public half is no token's.
            let half = try key.publicKey.attributes
            #expect(half["tkid"] == nil && half["klbl"] as? Data == attributes["klbl"] as? Data)
        }
    }

    @Test("K.52 It is stored by itself, and its bytes are in no answer", arguments: KeychainHost.everyHost)
    func stored(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            let key = try make([kSecAttrLabel: "L", kSecAttrApplicationTag: bytes("tag")])
            let query = keys.with([kSecAttrApplicationTag: bytes("tag")])
            let again: SecKey = try found(query.with(reference))
            #expect(again == key)
            try expectSigns(again)
            let everything: Item = [
                kSecReturnData: true, kSecReturnAttributes: true, kSecReturnRef: true, kSecReturnPersistentRef: true,
            ]
            keychain.run([
                .find(query.with([kSecReturnData: true]), .nothing),
                .find(query.with([kSecReturnData: true, kSecMatchLimit: kSecMatchLimitAll]), .array(of: 0)),
                .find(
                    query.with([kSecReturnData: true, kSecReturnAttributes: true]),
                    .dictionary([kSecAttrLabel: "L", kSecAttrTokenID: "com.apple.setoken"], without: [kSecValueData])),
                .find(query.with(everything), .dictionary([kSecValueRef: key], without: [kSecValueData])),
                .find([kSecClass: kSecClassKey, kSecAttrTokenID: kSecAttrTokenIDSecureEnclave], .success),
            ])
            // Only the private half is there, unless the public one is asked for.
            #expect(
                try found(keys.with([kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true]), as: [Any].self)
                    .count == 1)
            let pair = try SecKey.make(parameters.with([kSecPublicKeyAttrs: [kSecAttrIsPermanent: true] as Item]))
            let half: SecKey = try found(keys.with(reference).with([kSecAttrKeyClass: kSecAttrKeyClassPublic]))
            #expect(try half == pair.publicKey)
        }
    }

    @Test("K.52 It is found again by what tells it apart", arguments: KeychainHost.everyHost)
    func objectID(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            let key = try make()
            var attributes: Item = [kSecAttrTokenID: kSecAttrTokenIDSecureEnclave]
            attributes["toid" as CFString] = try key.attributes["toid"]
            let again = try SecKey.read(Data(), attributes)
            #expect(again == key)
            try expectSigns(again)
            #expect(throws: Failure.unimplemented) {
                try SecKey.read(Data(), attributes.with([kSecAttrTokenID: "other"]))
            }
            #expect(throws: Failure.parameter) { try SecKey.read(Data(), attributes.without("toid" as CFString)) }
            let other = attributes.with(["toid" as CFString: try Pair.p256.publicKey.bytes])
            #expect(throws: Failure.notFound) { try SecKey.read(Data(), other) }
            keychain.asCaller(groups: ["G3"]) {
                _ = #expect(throws: Failure.notFound) { try SecKey.read(Data(), attributes) }
            }
        }
    }

    // MARK: Who is asked

    @Test("K.53 Finding it asks nobody, and using it asks each time", arguments: KeychainHost.everyHost)
    func asked(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            try keychain.setPasscode("1234")
            keychain.reader.enroll(1)
            _ = try make([.privateKeyUsage, .devicePasscode], [kSecAttrLabel: "passcode"])
            _ = try make([.privateKeyUsage, .biometryAny], [kSecAttrLabel: "finger"])
            let passcode: SecKey = try found(keys.with(reference).with([kSecAttrLabel: "passcode"]))
            let finger: SecKey = try found(keys.with(reference).with([kSecAttrLabel: "finger"]))
            keychain.run([
                .find(keys.with([kSecReturnAttributes: true, kSecMatchLimit: kSecMatchLimitAll]), .array(of: 2))
            ])
            #expect(keychain.prompter.questions.isEmpty && keychain.reader.lookCount == 0)
            for count in 1...2 {
                keychain.prompter.answer(.text("1234"))
                try expectSigns(passcode)
                #expect(keychain.prompter.questions.count == count)
                keychain.reader.touch(1)
                #expect(try finger.agree(with: Pair.p256.publicKey, .ecdhKeyExchangeStandard).count == 32)
                #expect(keychain.reader.lookCount == count)
            }
            keychain.prompter.answer(.text("1234"))
            let cipher = try passcode.publicKey.encrypt(message, .eciesEncryptionStandardX963SHA256AESGCM)
            #expect(try passcode.decrypt(cipher, .eciesEncryptionStandardX963SHA256AESGCM) == message)
            // Whoever shows the wrong thing gets nothing.
            keychain.reader.touch(7)
            #expect(throws: Failure.authenticationFailed) { try finger.sign(message, .ecdsaSignatureMessageX962SHA256) }
        }
    }

    @Test(
        "K.53 Who declines, and who may not be asked, is an error of local authentication",
        arguments: KeychainHost.everyHost)
    func declined(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            try keychain.setPasscode("1234")
            let key = try make([.privateKeyUsage, .devicePasscode])
            keychain.prompter.answer(.fail(.declined), .fail(.declined))
            try expectFails(.declined, key)
            let count = keychain.prompter.questions.count
            let context = LAContext()
            context.interactionNotAllowed = true
            let silent: Item = [kSecUseAuthenticationContext: context]
            try expectFails(.notInteractive, try found(keys.with(reference).with(silent)))
            try expectFails(
                .notInteractive,
                try found(keys.with(reference).with([kSecUseAuthenticationUI: kSecUseAuthenticationUIFail])))
            #expect(keychain.prompter.questions.count == count)
        }
    }

    @Test("K.53 A context that was evaluated answers for the person", arguments: KeychainHost.everyHost)
    func evaluated(host: KeychainHost) async throws {
        try await withKeychain(host) { keychain in
            try keychain.setPasscode("1234")
            keychain.reader.enroll(1)
            _ = try make([.privateKeyUsage, .biometryAny])
            let context = LAContext()
            keychain.reader.touch(1)
            #expect(try await context.evaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, localizedReason: "test"))
            let key: SecKey = try found(keys.with(reference).with([kSecUseAuthenticationContext: context]))
            for _ in 0..<3 { try expectSigns(key) }
            #expect(keychain.reader.lookCount == 1 && keychain.prompter.questions.isEmpty)
            context.invalidate()
            try expectFails(.invalidContext, key)
            #expect(keychain.reader.lookCount == 1 && keychain.prompter.questions.isEmpty)
        }
    }

    @Test("K.53 The reason of the query is shown when the key is used", arguments: KeychainHost.everyHost)
    func reason(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            try keychain.setPasscode("1234")
            _ = try make([.privateKeyUsage, .devicePasscode])
            let key: SecKey = try found(keys.with(reference).with([kSecUseOperationPrompt: "to sign in"]))
            keychain.prompter.answer(.text("1234"))
            try expectSigns(key)
            #expect(keychain.prompter.questions.map(\.reason) == ["to sign in"])
        }
    }

    @Test(
        "K.58 Other fingers than there were make a key for the current ones worthless", arguments: KeychainHost.everyHost
    )
    func currentSet(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            keychain.reader.enroll(1)
            let key = try make([.privateKeyUsage, .biometryCurrentSet])
            keychain.reader.touch(1)
            try expectSigns(key)
            keychain.reader.enroll(1, 2)
            try expectFails(.corruptedKey, key)
            try expectFails(.corruptedKey, try found(keys.with(reference)))
            let count = keychain.reader.lookCount
            // It is not so for one that was deleted: programs make a new key in the one case alone.
            keychain.run([.delete(keys, .success)])
            try expectFails(.notFound, key)
            #expect(keychain.reader.lookCount == count && keychain.prompter.questions.isEmpty, "nobody is asked")
        }
    }

    @Test("K.59 A key that nobody could use is not made", arguments: KeychainHost.everyHost)
    func unusable(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            // Without a passcode and a finger.
            for flags: SecAccessControlCreateFlags in [
                [.privateKeyUsage, .devicePasscode], [.privateKeyUsage, .biometryAny],
                [.privateKeyUsage, .biometryCurrentSet], [.privateKeyUsage, .companion],
            ] {
                #expect(throws: Failure.authenticationFailed) { try make(flags) }
            }
            try keychain.setPasscode("1234")
            // An access control that does not speak of the use of keys allows none.
            for flags: SecAccessControlCreateFlags in [.userPresence, .devicePasscode] {
                #expect(throws: Failure.authenticationFailed) { try make(flags) }
            }
            keychain.run([.find(keys, .notFound)])
            try expectSigns(try make([]))
            try expectSigns(try make(.privateKeyUsage))
            #expect(keychain.prompter.questions.isEmpty)
        }
    }

    @Test(
        "K.67 An application password, which nobody could check, does not stand before the use of a key",
        arguments: KeychainHost.everyHost)
    func applicationPassword(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            let context = LAContext()
            #expect(context.setCredential(bytes("pw"), type: .applicationPassword))
            let flags: SecAccessControlCreateFlags = [.privateKeyUsage, .applicationPassword]
            #expect(throws: Failure.authenticationFailed) {
                try make(flags, [kSecUseAuthenticationContext: context])
            }
            keychain.run([.find(keys, .notFound)])
            // Nor does it by an update, which nothing could take back.
            let key = try make(.privateKeyUsage, [kSecAttrLabel: "L"])
            for flags: SecAccessControlCreateFlags in [flags, .userPresence, .applicationPassword] {
                let control = try #require(
                    SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, flags, nil))
                let query = keys.with([kSecAttrLabel: "L", kSecUseAuthenticationContext: context])
                keychain.run([.update(query, [kSecAttrAccessControl: control], .authenticationFailed)])
                try expectSigns(key)
            }
        }
    }

    @Test(
        "K.68 An update gives a key in the engine another access control, with the consent of using it",
        arguments: KeychainHost.everyHost)
    func updateOfAccessControl(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            try keychain.setPasscode("1234")
            let key = try make([kSecAttrLabel: "L"])
            let query = keys.with([kSecAttrLabel: "L"])
            let control = try #require(
                SecAccessControlCreateWithFlags(
                    nil, kSecAttrAccessibleWhenUnlocked, [.privateKeyUsage, .devicePasscode], nil))
            keychain.run([.update(query, [kSecAttrAccessControl: control], .success)])
            keychain.prompter.answer(.fail(.declined), .text("1234"))
            #expect(throws: Failure.declined) { try key.sign(message, .ecdsaSignatureMessageX962SHA256) }
            try expectSigns(key)
            // Who would be free of it has to be asked once more.
            let open: Item = [kSecAttrAccessible: kSecAttrAccessibleWhenUnlocked]
            keychain.prompter.answer(.fail(.declined))
            #expect(SecItemUpdate(query as CFDictionary, open as CFDictionary) == errSecUserCanceled)
            keychain.run([
                .update(
                    query.with([kSecUseAuthenticationUI: kSecUseAuthenticationUIFail]), open, .interactionNotAllowed)
            ])
            #expect(throws: Failure.interactionNotAllowed) { try key.sign(message, .ecdsaSignatureMessageX962SHA256) }
            keychain.prompter.answer(.text("1234"))
            keychain.run([.update(query, open, .success)])
            let count = keychain.prompter.questions.count
            try expectSigns(key)
            #expect(keychain.prompter.questions.count == count)
        }
    }

    @Test("K.52 What is signed may be longer than any digest", arguments: KeychainHost.everyHost)
    func longInput(host: KeychainHost) throws {
        try withKeychain(host) { _ in
            let key = try make()
            for count in [64, 1024, 1025, 100_000] {
                let long = Data(repeating: 1, count: count)
                let signature = try key.sign(long, .ecdsaSignatureDigestX962)
                try key.publicKey.verify(signature, of: long, .ecdsaSignatureDigestX962)
                let message = try key.sign(long, .ecdsaSignatureMessageRFC4754SHA256)
                try key.publicKey.verify(message, of: long, .ecdsaSignatureMessageRFC4754SHA256)
            }
        }
    }

    @Test(
        "K.52 The token is asked for in the attributes of the private half or of the pair",
        arguments: KeychainHost.everyHost)
    func placeOfToken(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            let token: Item = [kSecAttrTokenID: kSecAttrTokenIDSecureEnclave]
            let curve = parameters.without(kSecAttrTokenID)
            let key = try SecKey.make(curve.with([kSecPrivateKeyAttrs: token.with([kSecAttrLabel: "L"])]))
            #expect(throws: Failure.unimplemented) { try key.bytes }
            try expectSigns(key)
            keychain.run([.find(keys.with([kSecAttrLabel: "L"]), .success)])
            // A public half is never there.
            #expect(throws: Failure.parameter) {
                try SecKey.make(curve.with([kSecPublicKeyAttrs: token.with([kSecAttrIsPermanent: true])]))
            }
            let software = try SecKey.make(curve.with([kSecPublicKeyAttrs: token]))
            #expect(try software.bytes.count == 97)
            // An access control of the pair is for the private half.
            let control = try #require(
                SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .privateKeyUsage, nil))
            let pair = try SecKey.make(
                parameters.with([
                    kSecAttrIsPermanent: true, kSecAttrAccessControl: control, kSecAttrLabel: "pair",
                ]))
            let half = keys.with([kSecAttrLabel: "pair", kSecAttrKeyClass: kSecAttrKeyClassPublic])
            keychain.run([.find(half.with([kSecReturnData: true]), .data(try pair.publicKey.bytes))])
        }
    }

    // MARK: No other way in or out

    @Test("K.60 No update makes it another key, and none makes another key one", arguments: KeychainHost.everyHost)
    func updates(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            let key = try make([kSecAttrLabel: "L"])
            let query = keys.with([kSecAttrLabel: "L"])
            let changes: [Item] = [
                [kSecValueData: try Pair.p256.key.bytes], [kSecAttrTokenID: ""], [kSecAttrTokenID: "other"],
                [kSecAttrTokenID: kSecAttrTokenIDSecureEnclave], [kSecAttrApplicationLabel: bytes("another")],
                [kSecAttrKeyClass: kSecAttrKeyClassPublic], [kSecAttrKeyType: kSecAttrKeyTypeRSA],
                [kSecAttrKeySizeInBits: 384], ["toid" as CFString: try Pair.p256.publicKey.bytes],
                [kSecAttrSynchronizable: true], [kSecAttrLabel: "new", kSecValueData: Data()],
            ]
            keychain.run(changes.map { .update(query, $0, .parameter) })
            #expect(try found(query.with(reference), as: SecKey.self) == key)
            keychain.run([
                .update(query, [kSecAttrLabel: "new", kSecAttrApplicationTag: bytes("tag")], .success),
                .find(query, .notFound),
                .find(keys.with([kSecAttrLabel: "new", kSecReturnData: true]), .nothing),
            ])
            try expectSigns(key)
            let software = keys.with([kSecAttrLabel: "software"])
            keychain.run([
                .add([kSecValueRef: Pair.p256.key, kSecAttrLabel: "software"], .success),
                .update(software, [kSecAttrTokenID: kSecAttrTokenIDSecureEnclave], .parameter),
                .update(software, ["toid" as CFString: try Pair.p256.publicKey.bytes], .parameter),
                .find(software.with([kSecReturnData: true]), .data(try Pair.p256.key.bytes)),
            ])
        }
    }

    @Test("K.61 No key is added that says it is the engine's", arguments: KeychainHost.everyHost)
    func additions(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            let token: Item = [kSecAttrTokenID: kSecAttrTokenIDSecureEnclave]
            let key = try make()
            keychain.run([
                .add(Fixtures.privateKey.with(token), .parameter),
                .add(Fixtures.privateKey.with(["toid" as CFString: bytes("id")]), .parameter),
                .add(token.with([kSecValueRef: Pair.p256.key]), .parameter),
                .add(token.with([kSecClass: kSecClassKey]), .parameter),
                .find(keys.with([kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true]), .array(of: 1)),
            ])
            // Its own reference is no second key either.
            var result: CFTypeRef?
            #expect(SecItemAdd([kSecValueRef: key] as CFDictionary, &result) != errSecSuccess)
            // A password's token is a word like any other.
            keychain.run([
                .delete([kSecValueRef: key], .success),
                .find(keys, .notFound),
            ])
        }
    }

    @Test("K.62 While the keychain is locked it is not used", arguments: KeychainHost.everyHost)
    func locked(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            try keychain.setPasscode("1234")
            let key = try make()
            let always = try make([
                kSecAttrLabel: "after", kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlock,
            ])
            let asking = try make([.privateKeyUsage, .devicePasscode])
            try keychain.lock()
            try expectFails(.interactionNotAllowed, key)
            try expectFails(.interactionNotAllowed, asking)
            #expect(keychain.prompter.questions.isEmpty)
            try expectSigns(always)
            keychain.run([
                .find(keys.with(reference).with([kSecValueRef: key]), .interactionNotAllowed),
                .find(keys.with(reference).with([kSecAttrLabel: "after"]), .success),
            ])
            #expect(throws: Failure.interactionNotAllowed) { try make() }
            keychain.restart()
            try expectFails(.interactionNotAllowed, always)
            try keychain.unlock("1234")
            try expectSigns(key)
            try expectSigns(always)
        }
    }

    @Test("K.63 It is there for callers of its group alone", arguments: KeychainHost.everyHost)
    func groups(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            let key = try make([kSecAttrAccessGroup: "G2", kSecAttrLabel: "L"])
            try expectSigns(key)
            let query = keys.with([kSecAttrLabel: "L"])
            keychain.run([
                .asCaller(
                    ["G1"],
                    [
                        .find(query.with(reference), .notFound), .find([kSecValueRef: key], .notFound),
                        .update(query, [kSecAttrLabel: "mine"], .notFound), .delete(query, .notFound),
                    ]),
                .asCaller(["G2"], [.find(query.with(reference), .success)]),
                .update(query, [kSecAttrAccessGroup: "G1"], .success),
                .asCaller(["G2"], [.find(query.with(reference), .notFound)]),
            ])
            #expect(throws: Failure.missingEntitlement) { try make([kSecAttrAccessGroup: "G3"]) }
            #expect(throws: Failure.missingEntitlement) { try make([kSecAttrAccessGroup: "com.apple.token"]) }
            // In one of this caller's groups it stays usable.
            try expectSigns(key)
        }
    }

    @Test("K.64 With its row it is gone", arguments: KeychainHost.everyHost)
    func deleted(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            let (key, other) = (try make([kSecAttrLabel: "L"]), try make())
            keychain.run([
                .delete([kSecValueRef: key], .success), .delete([kSecValueRef: key], .notFound),
                .find(keys.with([kSecAttrLabel: "L"]), .notFound),
            ])
            try expectFails(.notFound, key)
            try expectSigns(other)
            // Encrypting to it and checking its signatures goes on.
            #expect(try key.publicKey.bytes.count == 65)
        }
    }

    @Test("K.65 It outlives renewals of all keys, and the passcode", arguments: KeychainHost.everyHost)
    func renewals(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            let key = try make([kSecAttrLabel: "L"])
            try keychain.setPasscode("1234")
            try expectSigns(key)
            try keychain.handler.changePasscode(from: "1234", to: "5678", rekey: true)
            try expectSigns(key)
            try keychain.lock()
            try keychain.unlock("5678")
            try expectSigns(key)
            #expect(try found(keys.with(reference).with([kSecAttrLabel: "L"]), as: SecKey.self) == key)
        }
    }

    @Test(
        "K.52 It has the flags of a private key, and what else its attributes ask to return does no harm",
        arguments: KeychainHost.everyHost)
    func flags(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            let key = try make([
                kSecAttrLabel: "L", kSecAttrCanDerive: false, kSecReturnRef: true, kSecReturnData: true,
                kSecReturnAttributes: true,
            ])
            keychain.run([
                .find(
                    keys.with([kSecAttrCanSign: true, kSecAttrIsPermanent: true, kSecAttrIsExtractable: false]),
                    .success),
                .find(keys.with([kSecAttrCanDerive: true]), .notFound),
                .find(keys.with([kSecAttrCanEncrypt: true]), .notFound),
            ])
            try expectSigns(key)
        }
    }

    @Test(
        "K.53 A search may leave out what asks a person, and the use of what was found may not",
        arguments: KeychainHost.everyHost)
    func skipped(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            try keychain.setPasscode("1234")
            _ = try make([.privateKeyUsage, .devicePasscode])
            let key: SecKey = try found(
                keys.with(reference).with([kSecUseAuthenticationUI: kSecUseAuthenticationUISkip]))
            try expectFails(.notInteractive, key)
            #expect(keychain.prompter.questions.isEmpty)
        }
    }

    @Test("K.66 As half of an identity it gives nothing away", arguments: KeychainHost.everyHost)
    func identity(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            let key = try make([kSecAttrLabel: "K"])
            let hash: Item = [kSecAttrPublicKeyHash: try #require(try key.attributes["klbl"])]
            keychain.run([
                .add(Fixtures.certificate.with(hash), .success),
                .find(Fixtures.identity, .success),
                .find(Fixtures.identity.with([kSecReturnData: true]), .nothing),
                .find(
                    Fixtures.identity.with([kSecReturnData: true, kSecReturnAttributes: true]),
                    .dictionary([kSecAttrLabel: "L"], without: [kSecValueData])),
                .update(Fixtures.identity, [kSecAttrLabel: "new"], .success),
                .update(Fixtures.identity, [kSecAttrApplicationLabel: bytes("other")], .noSuchAttribute),
            ])
            try expectSigns(key)
        }
    }

    @Test("K.54 Many threads use it at once, and find it", arguments: KeychainHost.everyHost)
    func threads(host: KeychainHost) async throws {
        try await withKeychain(host) { _ in
            _ = try make([kSecAttrLabel: "L"])
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        let own = Self()
                        let key: SecKey = try found(own.keys.with(own.reference).with([kSecAttrLabel: "L"]))
                        for _ in 0..<4 { try own.expectSigns(key) }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test(
        "K.69 An application label that the maker gives stays, counts for uniqueness, and leads to the key",
        arguments: KeychainHost.everyHost)
    func ownLabel(host: KeychainHost) throws {
        try withKeychain(host) { keychain in
            let label: Item = [kSecAttrApplicationLabel: bytes("my-label"), kSecAttrApplicationTag: bytes("tag")]
            let key = try make(label)
            try expectSigns(key)
            #expect(throws: Failure.duplicate) { try make(label) }
            let asked = keys.with([kSecAttrApplicationLabel: bytes("my-label")])
            keychain.run([
                .find(
                    asked.with([kSecReturnAttributes: true]),
                    .dictionary([kSecAttrApplicationLabel: bytes("my-label")])),
                .find([kSecValueRef: key, kSecReturnPersistentRef: true], .success),
            ])
            let found: SecKey = try found(asked.with(reference))
            try expectSigns(found)
            #expect(found == key)
            // By its public half alone, as an identity asks for it.
            let other = try SecKey.make(
                parameters.with([kSecPrivateKeyAttrs: [kSecAttrApplicationLabel: bytes("another")] as Item]))
            #expect(other != key)
            keychain.run([
                .delete([kSecValueRef: key], .success), .find(asked, .notFound),
                .find(keys.with([kSecAttrApplicationLabel: bytes("another")]), .success),
            ])
        }
    }

    @Test(
        "K.70 Beside an access control, an accessibility that says the same is accepted, and another one is not",
        arguments: KeychainHost.everyHost)
    func accessibilityBesideControl(host: KeychainHost) throws {
        try withKeychain(host) { _ in
            try expectSigns(try make(.privateKeyUsage, [kSecAttrAccessible: kSecAttrAccessibleWhenUnlocked]))
            #expect(throws: Failure.parameter) {
                try make(.privateKeyUsage, [kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlock])
            }
        }
    }
}
