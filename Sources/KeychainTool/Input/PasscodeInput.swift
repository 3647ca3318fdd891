internal import KeychainModel

/// The source of passcodes and passphrases: a person at a terminal, or otherwise the lines of standard input.
enum PasscodeInput {
    /// A limit far beyond every passcode. The keychain itself limits their length.
    private static let limit = 64 << 10

    static func readPresent() throws -> SecretBytes {
        try read(["Passcode"])[0]
    }

    static func readNew() throws -> SecretBytes {
        let lines = try read(["New passcode", "New passcode again"])
        return try SecretInput.agreed(lines[0], lines[1], "new passcodes")
    }

    /// - Parameter check: Throws if the old passcode is wrong, before a person thinks of a new one.
    static func readOldAndNew(
        check: (SecretBytes) throws -> Void
    ) throws -> (old: SecretBytes, new: SecretBytes) {
        if SecretInput.isTerminal {
            let old = try read(["Old passcode"])[0]
            try check(old)
            return (old, try readNew())
        }
        let lines = try read(["Old passcode", "New passcode", "New passcode again"])
        return (lines[0], try SecretInput.agreed(lines[1], lines[2], "new passcodes"))
    }

    /// The things that have a passphrase.
    enum Sealed: String { case export, backupKey = "backup key", key, pkcs12 = "PKCS#12 file" }

    /// - Parameter file: The name of the file, because there may be several.
    static func readPassphrase(ofFile file: String) throws -> SecretBytes {
        try read(["Passphrase of \(file)"])[0]
    }

    static func readPassphrase(of sealed: Sealed) throws -> SecretBytes {
        try read(["Passphrase of the \(sealed.rawValue)"])[0]
    }

    static func readNewPassphrase(of sealed: Sealed) throws -> SecretBytes {
        let passphrase = "Passphrase of the \(sealed.rawValue)"
        let lines = try read([passphrase, passphrase + " again"])
        return try SecretInput.agreed(lines[0], lines[1], "passphrases")
    }

    /// - Returns: one secret for each name.
    static func read(_ names: [String]) throws -> [SecretBytes] {
        if names.isEmpty { return [] }
        if SecretInput.isTerminal {
            return try names.map { try SecretInput.readLine("\($0): ") }
        }
        let input = try SecretInput.readToEnd(
            limit: limit,
            otherwise: "standard input has more than 64 KiB, and only passcodes or passphrases are expected there")
        return try lines(of: input, names)
    }

    /// Splits the input at newlines. A line may have any bytes, and the last line needs no end.
    ///
    /// - Throws: `.parameter` if there are not exactly as many lines as names.
    static func lines(of input: SecretBytes, _ names: [String]) throws(KeychainError) -> [SecretBytes] {
        let (lines, hasMore) = split(input, atMost: names.count)
        if lines.count == names.count, !hasMore { return lines }
        throw KeychainError(
            .parameter,
            message: "standard input has \(hasMore ? "more than " : "")\(counted(lines.count, "line")), and "
                + "\(counted(names.count, "line was", "lines were")) expected: "
                + "\(names.joined(separator: ", ").lowercased()); nothing was changed")
    }

    private static func split(_ input: SecretBytes, atMost count: Int) -> (lines: [SecretBytes], hasMore: Bool) {
        input.withUnsafeBytes { bytes in
            var lines: [SecretBytes] = []
            var rest = bytes[...]
            while !rest.isEmpty, lines.count < count {
                let line = rest.prefix { $0 != UInt8(ascii: "\n") }
                lines.append(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: line)))
                rest = rest.dropFirst(line.count + 1)
            }
            return (lines, !rest.isEmpty)
        }
    }
}

extension SecretBytes {
    /// Tells a person that a new passcode or passphrase is short.
    func noteIfShort(_ name: String) {
        if count < 8 { Console.note("note: a \(name) of fewer than 8 characters is soon guessed") }
    }
}
