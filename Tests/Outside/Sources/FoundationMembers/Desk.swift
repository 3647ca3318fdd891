import Foundation

/// Something that was said and is not so.
struct Untrue: Error, CustomStringConvertible {
    let description: String
}

func require(_ isTrue: Bool, _ otherwise: String) throws {
    guard isTrue else { throw Untrue(description: otherwise) }
}

/// What the files hold: no eight bytes of it come twice.
let text = "Dear diary, 17 quick zebras jumped over the lazy fox; nobody else may know."
let note = Data(text.utf8)

/// The directory of the files.
struct Desk {
    let directory: URL

    /// The name of a file that is not there.
    func newFile() -> URL { directory.appendingPathComponent(UUID().uuidString) }

    func protectedFile(_ content: Data = note) throws -> URL {
        let file = newFile()
        try content.write(to: file, options: .completeFileProtection)
        try requireSealed(file, content)
        return file
    }

    /// A file that was made without Foundation.
    func plainFile() throws -> URL {
        let file = newFile()
        let descriptor = open(file.path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        try require(descriptor >= 0, "a plain file cannot be made")
        defer { close(descriptor) }
        let written = note.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        try require(written == note.count, "a plain file cannot be written")
        try require(try Self.bytes(of: file) == note, "open(2) and read(2) do not see what is in a plain file")
        return file
    }

    /// What the disk has.
    static func bytes(of file: URL) throws -> Data {
        let descriptor = open(file.path, O_RDONLY)
        try require(descriptor >= 0, "there is no file")
        defer { close(descriptor) }
        var bytes = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            try require(count >= 0, "the file cannot be read")
            if count == 0 { return bytes }
            bytes += buffer.prefix(count)
        }
    }

    /// The file holds this, and none of it is on the disk in plain.
    func requireSealed(_ file: URL, _ content: Data = note) throws {
        let bytes = try Self.bytes(of: file)
        for start in 0...(content.count - 8) {
            let isThere = bytes.range(of: content[start..<(start + 8)]) != nil
            try require(!isThere, "plain bytes of the content are on the disk")
        }
        try require(try Data(contentsOf: file) == content, "what was written does not come back")
    }
}
