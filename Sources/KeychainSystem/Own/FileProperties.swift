internal import FoundationEssentials
internal import Glibc
internal import KeychainModel

/// The properties of a file that a new one in its place keeps: group, mode, access list and other extended attributes.
struct FileProperties {
    private let status: stat
    private var attributes: [(name: String, value: [UInt8])] = []

    init(of descriptor: Int32, _ url: URL) throws(KeychainError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw KeychainError(file: "read", url, errno) }
        self.status = status
        let names = try Self.value(url) { ckeychain_list_attributes(descriptor, $0, $1, &$2) }
        for name in names.split(separator: 0).map({ String(decoding: $0, as: UTF8.self) }) {
            let value = try Self.value(url) { bytes, count, size in
                ckeychain_get_attribute(nil, descriptor, name, bytes, count, &size)
            }
            attributes.append((name, value))
        }
    }

    /// Reads a value whose size is asked for first.
    private static func value(
        _ url: URL, _ read: (UnsafeMutablePointer<CChar>?, Int, inout Int) -> Int32
    ) throws(KeychainError) -> [UInt8] {
        while true {
            var count = 0
            var failure = read(nil, 0, &count)
            // Some file systems have no attributes, and some files.
            if failure == ENOTSUP || (failure == 0 && count == 0) { return [] }
            var bytes = [CChar](repeating: 0, count: count)
            if failure == 0 {
                failure = bytes.withUnsafeMutableBufferPointer { read($0.baseAddress, $0.count, &count) }
            }
            // The list has become larger meanwhile.
            if failure == ERANGE { continue }
            guard failure == 0 else { throw KeychainError(file: "read", url, failure) }
            return bytes.prefix(count).map { UInt8(bitPattern: $0) }
        }
    }

    /// - Throws: a ``KeychainError`` if the new file cannot have them. The system may refuse properties that it sets
    ///   itself.
    func give(to descriptor: Int32, _ url: URL) throws(KeychainError) {
        var present = stat()
        guard fstat(descriptor, &present) == 0 else { throw KeychainError(file: "read", url, errno) }
        if present.st_gid != status.st_gid && fchown(descriptor, uid_t.max, status.st_gid) != 0 {
            throw KeychainError(file: "keep the group of", url, errno)
        }
        guard fchmod(descriptor, status.st_mode & 0o777) == 0 else { throw KeychainError(file: "create", url, errno) }
        for (name, value) in attributes {
            let failure = ckeychain_set_attribute(nil, descriptor, name, value, value.count)
            if failure != 0 && (name.hasPrefix("user.") || name == "system.posix_acl_access") {
                throw KeychainError(file: "keep the attributes of", url, failure)
            }
        }
    }
}
