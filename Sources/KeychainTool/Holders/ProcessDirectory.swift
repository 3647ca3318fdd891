internal import Foundation
internal import Glibc

/// What the kernel tells of one process (proc(5)).
struct ProcessDirectory {
    let process: Int32
    private var path: String { "/proc/\(process)" }

    /// All that there are now, this one excepted.
    static var all: [ProcessDirectory] {
        let names = (try? names(in: "/proc").get()) ?? []
        return names.compactMap { Int32($0) }.filter { $0 != getpid() }.sorted().map(ProcessDirectory.init)
    }

    /// The numbers of the descriptors, or why they may not be seen.
    var descriptors: Result<[Int32], ErrorNumber> {
        Self.names(in: path + "/fd").map { names in names.compactMap { Int32($0) }.sorted() }
    }

    struct ErrorNumber: Error { let value: Int32 }

    private static func names(in directory: String) -> Result<[String], ErrorNumber> {
        guard let stream = opendir(directory) else { return .failure(ErrorNumber(value: errno)) }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        return .success(names)
    }

    /// Leads to the open file itself, whatever its name is by now.
    func link(_ descriptor: Int32) -> String { "\(path)/fd/\(descriptor)" }

    func access(_ descriptor: Int32) -> DescriptorAccess? {
        text("fdinfo/\(descriptor)").flatMap(DescriptorAccess.init(info:))
    }

    /// The name of its executable file, else the one that the process gave itself.
    var program: String {
        let file = Self.target(path + "/exe").map { ($0 as NSString).lastPathComponent }
        let name = file ?? text("comm")?.trimmingCharacters(in: .newlines) ?? "?"
        return name.hasSuffix(Self.removed) ? String(name.dropLast(Self.removed.count)) : name
    }

    /// What the kernel puts behind the name of a file that has none any more.
    private static let removed = " (deleted)"

    var user: String {
        var status = stat()
        guard stat(path, &status) == 0 else { return "?" }
        guard let entry = getpwuid(status.st_uid), let name = entry.pointee.pw_name else {
            return String(status.st_uid)
        }
        return String(cString: name)
    }

    private func text(_ name: String) -> String? {
        FileManager.default.contents(atPath: "\(path)/\(name)").map { String(decoding: $0, as: UTF8.self) }
    }

    static func target(_ link: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(link, &bytes, bytes.count)
        return count < 0 ? nil : String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
