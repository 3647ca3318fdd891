import Foundation
import KeychainTestSupport
import Testing

@Suite struct KeyCommandTests {
    private static let message = Data("a letter\n".utf8)

    // MARK: Making and using

    @Test(
        "A key that is made signs and decrypts, and its public half checks and encrypts",
        arguments: ["ec256", "ec384", "ec521", "rsa2048"])
    func roundTrip(type: String) throws {
        try withTool { (tool) throws in
            let made = try tool.run("key", "generate", "--type", type, "--tag", "t", "--label", "L")
            #expect(made.status == 0)
            #expect(made.text.hasPrefix("-----BEGIN PUBLIC KEY-----\n"))
            #expect(try tool.run("get", "key", "--tag", "t", "--public", "--format", "pem").text == made.text)
            // The public half by itself, as somebody else has it.
            #expect(try tool.run("add", "key", "--tag", "other", input: made.output).status == 0)

            let signature = try tool.run("key", "sign", "--tag", "t", input: Self.message)
            #expect(signature.status == 0)
            let file = try tool.file("signature", signature.output)
            for tag in ["t", "other"] {
                let checked = try tool.run("key", "verify", "--tag", tag, "--signature", file, input: Self.message)
                #expect(checked.status == 0)
                #expect(checked.output.isEmpty)
                let wrong = try tool.run("key", "verify", "--tag", tag, "--signature", file, input: Data("other".utf8))
                #expect(wrong.status == 32)
                #expect(
                    wrong.errors == "keychainctl: the signature is not that of this key for these bytes\n")
            }
            for tag in ["t", "other"] {
                let encrypted = try tool.run("key", "encrypt", "--tag", tag, input: Self.message)
                #expect(try tool.run("key", "decrypt", "--label", "L", input: encrypted.output).output == Self.message)
                var changed = encrypted.output
                changed[changed.count - 1] ^= 1
                #expect(try tool.run("key", "decrypt", "--tag", "t", input: changed).status == 206)
            }
            #expect(try tool.run("key", "sign", "--tag", "other", input: Self.message).status == 44)
        }
    }

    @Test("Input may be a file, and output base64")
    func forms() throws {
        try withTool { (tool) throws in
            try tool.run("key", "generate", "--tag", "t")
            let letter = try tool.file("letter", Self.message)
            let text = try tool.run("key", "sign", "--tag", "t", "--base64", letter).text
            #expect(Data(base64Encoded: text.trimmingCharacters(in: .newlines)) != nil)
            let signature = try tool.file("signature", Data(text.utf8))
            #expect(
                try tool.run("key", "verify", "--tag", "t", "--base64", "--signature", signature, letter).status == 0)
            #expect(try tool.run("key", "verify", "--tag", "t", "--signature", signature, letter).status == 32)
            #expect(try tool.run("key", "verify", "--tag", "t", "--signature", "-", letter).status == 64)
            #expect(try tool.run("key", "sign", "--tag", "t", "missing").status == 220)
        }
    }

    @Test("An algorithm is named as Apple's constant, and one that the key has not is answered with those it has")
    func algorithms() throws {
        try withTool { (tool) throws in
            try tool.run("key", "generate", "--tag", "t")
            let raw = try tool.run(
                "key", "sign", "--tag", "t", "--algorithm", "ECDSA:message-RFC4754:SHA512", input: Self.message)
            #expect(raw.output.count == 64)
            let digest = try tool.run(
                "key", "sign", "--tag", "t", "--algorithm", "ECDSA:digest-X962:SHA256", input: Data())
            #expect(digest.status == 206)
            #expect(digest.errors == "keychainctl: a digest of SHA256 has 32 bytes, and not 0\n")
            let other = try tool.run("key", "sign", "--tag", "t", "--algorithm", "RSA:raw", input: Self.message)
            #expect(other.status == 206)
            #expect(other.errors.contains("has no algorithm RSA:raw, but ECDSA:digest-X962, "))
        }
    }

    @Test("Two sides agree on one secret, of the size and with the text that both name")
    func agreement() throws {
        try withTool { (tool) throws in
            let ours = try tool.file("ours", try tool.run("key", "generate", "--tag", "ours").output)
            let theirs = try tool.file(
                "theirs", try tool.run("key", "generate", "--in-engine", "--tag", "theirs").output)
            for options in [[], ["--size", "48"], ["--info", "letters"], ["--algorithm", "ECDH"]] {
                let one = try tool.run(words: ["key", "agree", "--tag", "ours", "--peer", theirs] + options)
                let other = try tool.run(words: ["key", "agree", "--tag", "theirs", "--peer", ours] + options)
                #expect(one.status == 0)
                #expect(one.output == other.output)
                #expect(one.output.count == (options.first == "--size" ? 48 : 32))
            }
            let large = try tool.file("large", try tool.run("key", "generate", "--type", "ec384", "--tag", "l").output)
            #expect(try tool.run("key", "agree", "--tag", "ours", "--peer", large).status == 206)
            let own = try tool.file("own", try tool.run("get", "key", "--tag", "ours", "--format", "pem").output)
            #expect(try tool.run("key", "agree", "--tag", "ours", "--peer", own).status == 206)
            let sized = try tool.run(
                "key", "agree", "--tag", "ours", "--peer", theirs, "--algorithm", "ECDH", "--size", "8")
            #expect(sized.status == 206)
        }
    }

    // MARK: Keys in the engine

    @Test("A key in the engine is used there, and only its public half leaves")
    func engine() throws {
        try withTool { (tool) throws in
            let made = try tool.run("key", "generate", "--in-engine", "--tag", "e", "--json")
            #expect(made.object["inEngine"] as? Bool == true)
            let publicHalf = try tool.run("get", "key", "--tag", "e", "--public", "--format", "pem")
            #expect(publicHalf.text == made.object["publicKey"] as? String)
            for format in ["raw", "pem", "der", "ssh", "jwk"] {
                let refused = try tool.run("get", "key", "--tag", "e", "--format", format)
                #expect(refused.status == 252)
                #expect(refused.output.isEmpty)
                #expect(refused.errors.contains("its bytes never leave"))
            }
            #expect(try tool.run("find", "key").text.contains("when-unlocked +engine"))
            let signature = try tool.run("key", "sign", "--tag", "e", input: Self.message)
            let file = try tool.file("signature", signature.output)
            #expect(
                try tool.run("key", "verify", "--tag", "e", "--signature", file, input: Self.message).status == 0)
            let encrypted = try tool.run("key", "encrypt", "--tag", "e", input: Self.message)
            #expect(try tool.run("key", "decrypt", "--tag", "e", input: encrypted.output).output == Self.message)
            #expect(
                try tool.run("key", "generate", "--in-engine", "--type", "rsa2048", "--tag", "r").status == 64)
        }
    }

    @Test("A key that asks for the passcode is not used unless somebody may be asked", .enabled(if: Tool.sharesKeys))
    func consent() throws {
        try withPasscode { (tool) throws in
            for place in [["--in-engine"], []] {
                let tag = place.first ?? "software"
                let made = try tool.run(words: ["key", "generate", "--tag=\(tag)", "--require", "passcode"] + place)
                #expect(made.status == 0)
                let signed = try tool.run("key", "sign", "--tag=\(tag)", "--no-interaction", input: Self.message)
                #expect(signed.status == 36)
                #expect(signed.output.isEmpty)
            }
        }
    }

    // MARK: Choosing

    @Test("A key is found by tag, label, group, application label and reference, and several are refused")
    func choosing() throws {
        try withTool { (tool) throws in
            let made = try tool.run(
                "key", "generate", "--tag", "a", "--label", "L", "--group", "g", "--json"
            ).object
            try tool.run("key", "generate", "--tag", "b", "--label", "L")
            let attributes = made["attributes"] as? [String: Any]
            let label = (attributes?["applicationLabel"] as? [String: String])?["base64"] ?? ""
            let reference = made["reference"] as? String ?? ""
            for choice in [
                ["--tag", "a"], ["--group", "g"], ["--application-label", label], ["--reference", reference],
                ["--label", "L", "--group", "g"],
            ] {
                #expect(try tool.run(words: ["key", "sign"] + choice).status == 0, "\(choice)")
            }
            let several = try tool.run("key", "sign", "--label", "L", input: Self.message)
            #expect(several.status == 206)
            #expect(several.errors.contains("2 keys match in the access groups g, keychain"))
            let none = try tool.run("key", "sign", "--tag", "c", input: Self.message)
            #expect(none.status == 44)
            #expect(none.errors == "keychainctl: no key matches tag c\n")
            #expect(try tool.run("find", "key", "--tag", "a", "--json").objects.count == 1)
            #expect(try tool.run("delete", "key", "--application-label", label).text == "1 item deleted\n")
            #expect(try tool.run("find", "generic", "--tag", "a").status == 64)
        }
    }

    @Test("A second key of the same tag is refused, and nothing is stored")
    func sameTag() throws {
        try withTool { (tool) throws in
            try tool.run("key", "generate", "--tag", "t")
            for place in [["--in-engine"], []] {
                let again = try tool.run(words: ["key", "generate", "--tag", "t"] + place)
                #expect(again.status == 45)
            }
            #expect(try tool.run("find", "key", "--json").objects.count == 1)
            #expect(try tool.run("key", "generate", "--tag", "t", "--group", "g").status == 0)
        }
    }
}
