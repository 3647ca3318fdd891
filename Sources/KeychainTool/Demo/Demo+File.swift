internal import DataProtection
internal import Foundation
internal import KeychainClient
internal import KeychainModel

extension Demo {
    private var letter: URL { directory.appendingPathComponent("letter.txt") }

    /// A file opens while the keychain is unlocked, and not after a lock or a flipped bit.
    func showFile(_ app: Connection) throws {
        try narrator.chapter("A file: 'keychainctl file protect --class complete letter.txt'")
        let files = ProtectedFiles(connection: app)
        let content = Data(Sample.letter.utf8)
        try content.write(to: letter)
        try narrator.fact(
            "A plain file is searched for its text.", try isInClear ? "it is there" : "it is not there",
            isAsTold: try isInClear)
        try narrator.fileStep("The file is protected, in its place.") { () throws(DataProtectionError) in
            try files.protect(letter, as: .complete)
        }
        try narrator.fact(
            "Now its bytes on the disk are searched again.", try isInClear ? "it is there" : "it is not there",
            isAsTold: try !isInClear)
        try narrator.remark(
            "The disk may still have the blocks of the plain file: they were given back, not overwritten.")
        try showLockedFile(app, files, content)
        try narrator.fact(
            "One bit in the midst of its content is flipped.", "done", isAsTold: try flipBitOfLetter())
        try narrator.fileStep("It is refused: no wrong byte is returned.", expecting: .tampered) {
            () throws(DataProtectionError) in _ = try files.read(from: letter)
        }
        try FileManager.default.removeItem(at: letter)
    }

    private func showLockedFile(_ app: Connection, _ files: ProtectedFiles, _ content: Data) throws {
        try narrator.step("The owner locks the keychain.") { () throws(KeychainError) in
            try app.lock(.now)
        }
        try narrator.fileStep("The file is refused, to every program of this user.", expecting: .locked) {
            () throws(DataProtectionError) in _ = try files.read(from: letter)
        }
        try narrator.step("The owner unlocks it.") { () throws(KeychainError) in
            _ = try app.unlock(Self.passcode) { _ in }
        }
        try narrator.fileStep("The file is read, and its text is the same.") { () throws(DataProtectionError) in
            narrator.expect(try files.read(from: letter) == content, "the content is not what was protected")
        }
    }

    private var isInClear: Bool {
        get throws { try !PlaintextScanner.hits(of: [Sample.letter], in: [letter]).isEmpty }
    }

    /// The content of so small a file begins behind the first page, which is its header (docs/file-format.md).
    private func flipBitOfLetter() throws -> Bool {
        var stored = try Data(contentsOf: letter)
        let place = 4096 + Sample.letter.utf8.count / 2
        guard place < stored.count else { return false }
        stored[place] ^= 1
        try stored.write(to: letter)
        return true
    }
}
