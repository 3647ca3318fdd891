internal import Glibc
internal import KeychainSystem

/// The directories above a directory.
enum Ancestors {
    /// Whether one of two directories is the other one, or lies in it, by whatever names. An error counts as such.
    static func overlap(_ one: String, _ other: String) -> Bool {
        guard let first = FileNumber(one), let second = FileNumber(other) else { return true }
        return all(of: one).contains(second) || all(of: other).contains(first)
    }

    /// The directory and all above it, found from one to the next: a path could be too long. None of them need be readable.
    private static func all(of path: String) -> Set<FileNumber> {
        var found: Set<FileNumber> = []
        var next = try? HeldDirectory(path)
        while let held = next {
            var status = stat()
            guard fstat(held.descriptor, &status) == 0, found.insert(FileNumber(status)).inserted else { break }
            next = try? HeldDirectory("/proc/self/fd/\(held.descriptor)/..")
        }
        return found
    }
}

/// A mount of this user's that a program like this one serves.
struct KeychainMounts {
    let point: String
    /// The directory below.
    let source: String
    /// The kernel's name of the connection to its program, in /sys/fs/fuse/connections.
    let connection: String

    /// All of them, also those whose programs do not answer any more: proc_pid_mountinfo(5). Asking one could wait for ever.
    static var all: [KeychainMounts] {
        let file = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return [] }
        let held = OpenDescriptor(file)
        let lines = (OpenDescriptor.content(of: held.number) ?? []).split(separator: UInt8(ascii: "\n"))
        return lines.compactMap { KeychainMounts(line: $0, user: getuid()) }
    }

    /// - Returns: `nil` for every other mount.
    init?(line: ArraySlice<UInt8>, user: uid_t) {
        let fields = line.split(separator: UInt8(ascii: " ")).map(Array.init)
        // Type, source and the options of the file system follow a field that is a dash.
        guard let dash = fields.lastIndex(of: Array("-".utf8)), fields.count > dash + 3, dash > 5,
            fields[dash + 1] == Array("fuse.keychain".utf8),
            fields[dash + 3].split(separator: UInt8(ascii: ",")).contains(where: {
                $0.elementsEqual("user_id=\(user)".utf8)
            })
        else { return nil }
        point = Self.unescaped(fields[4])
        source = Self.unescaped(fields[dash + 2])
        connection = String(decoding: fields[2].drop { $0 != UInt8(ascii: ":") }.dropFirst(), as: UTF8.self)
    }

    /// Blanks and the like are a backslash and three octal digits there.
    private static func unescaped(_ field: [UInt8]) -> String {
        var bytes: [UInt8] = []
        var rest = field[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), digits.count == 3,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
            {
                bytes.append(value)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
