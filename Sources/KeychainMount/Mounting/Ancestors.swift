internal import Glibc
internal import KeychainSystem

/// The directories above a directory.
enum Ancestors {
    /// Whether one of two directories is the other one, or lies in it, by whatever names.
    static func overlap(_ one: String, _ other: String) -> Bool {
        guard let first = FileNumber(one), let second = FileNumber(other) else { return false }
        return all(of: one).contains(second) || all(of: other).contains(first)
    }

    /// The directory and all above it, which are found from one to the next: a path could be too long.
    private static func all(of path: String) -> Set<FileNumber> {
        var found: Set<FileNumber> = []
        var next = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        while next >= 0 {
            let held = OpenDescriptor(next)
            var status = stat()
            guard fstat(next, &status) == 0, found.insert(FileNumber(status)).inserted else { break }
            next = openat(held.number, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        }
        return found
    }

    /// The directories that this program is showing somewhere: proc_pid_mountinfo(5).
    static func mounted() -> [String] {
        let file = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return [] }
        let held = OpenDescriptor(file)
        let lines = (OpenDescriptor.content(of: held.number) ?? []).split(separator: UInt8(ascii: "\n"))
        return lines.compactMap { line in
            // The type and the source follow a field that is a dash.
            let fields = line.split(separator: UInt8(ascii: " "))
            guard let dash = fields.lastIndex(where: { $0.elementsEqual("-".utf8) }), fields.count > dash + 2,
                fields[dash + 1].elementsEqual("fuse.keychain".utf8)
            else { return nil }
            return unescaped(fields[dash + 2])
        }
    }

    /// Blanks and the like are a backslash and three octal digits there.
    static func unescaped(_ field: some Collection<UInt8>) -> String {
        var bytes: [UInt8] = [], rest = Array(field)[...]
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
