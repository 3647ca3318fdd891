internal import Glibc

/// What a process opened a file for.
struct DescriptorAccess: OptionSet, Hashable {
    let rawValue: Int
    static let reading = DescriptorAccess(rawValue: 1)
    static let writing = DescriptorAccess(rawValue: 2)

    init(rawValue: Int) { self.rawValue = rawValue }

    /// - Parameter info: What `/proc/PID/fdinfo/NUMBER` has (proc(5)).
    /// - Returns: nil if it does not say, or if the descriptor is for the name of the file alone.
    init?(info: String) {
        let lines = info.split(separator: "\n").map { $0.split(separator: ":", maxSplits: 1) }
        guard let text = lines.first(where: { $0.count == 2 && $0[0] == "flags" })?[1],
            let flags = Int32(text.drop { $0 == " " || $0 == "\t" }, radix: 8), flags & Self.nameOnly == 0
        else { return nil }
        switch flags & O_ACCMODE {
        case O_RDONLY: self = .reading
        case O_WRONLY: self = .writing
        case O_RDWR: self = [.reading, .writing]
        default: return nil
        }
    }

    /// O_PATH, which Swift does not see.
    private static let nameOnly: Int32 = 0o10_000_000

    var text: String {
        switch self {
        case .reading: "reading"
        case .writing: "writing"
        default: "reading and writing"
        }
    }
}
