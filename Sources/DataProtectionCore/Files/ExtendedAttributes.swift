internal import FoundationEssentials
internal import Glibc
internal import KeychainSystem
internal import SealedFiles

/// Extended attributes (xattr(7)) of an open file or of a directory.
enum ExtendedAttributes {
    /// The attribute in which Linux keeps access lists (acl(5)).
    static let accessList = "system.posix_acl_access"

    /// The value of an attribute. `nil` means that there is none of that name, or that the file system has no
    /// attributes.
    ///
    /// - Parameter file: The open file. `nil` means the one that the path leads to.
    static func value(_ name: String, of path: String, _ file: Int32? = nil) throws(DataProtectionError) -> Data? {
        try read(path) { ckeychain_get_attribute(file == nil ? path : nil, file ?? -1, name, $0, $1, &$2) }
    }

    /// All attributes of a file that the caller may see.
    static func all(of file: Int32, _ path: String) throws(DataProtectionError) -> [(name: String, value: Data)] {
        let names = try read(path) { names, capacity, count in
            ckeychain_list_attributes(file, names?.assumingMemoryBound(to: CChar.self), capacity, &count)
        }
        var attributes: [(name: String, value: Data)] = []
        for bytes in (names ?? Data()).split(separator: 0) {
            guard let name = String(validating: bytes, as: UTF8.self) else {
                throw DataProtectionError(
                    .unsupportedFile, path, "it has an extended attribute whose name is not UTF-8")
            }
            if let value = try value(name, of: path, file) { attributes.append((name, value)) }
        }
        return attributes
    }

    static func set(_ name: String, _ value: Data, of file: Int32) -> Bool {
        value.withUnsafeBytes { ckeychain_set_attribute(nil, file, name, $0.baseAddress, $0.count) } == 0
    }

    static func set(_ name: String, _ value: Data, of path: String) throws(DataProtectionError) {
        let failure = value.withUnsafeBytes { ckeychain_set_attribute(path, -1, name, $0.baseAddress, $0.count) }
        guard failure == 0 else { throw .system("mark", path, errno: failure) }
    }

    /// Gives an open file or directory attributes of another one. The system may refuse those that it sets itself. The
    /// access list, and attributes that users set, must not be lost.
    static func give(
        _ attributes: [(name: String, value: Data)], to file: Int32, _ path: String
    ) throws(DataProtectionError) {
        for (name, value) in attributes {
            guard set(name, value, of: file) || name != accessList && !name.hasPrefix("user.") else {
                throw .system("write the attributes of", path)
            }
        }
    }

    /// Removes an attribute. It is no error if there is none.
    static func remove(_ name: String, of path: String, _ file: Int32? = nil) throws(DataProtectionError) {
        let failure = ckeychain_remove_attribute(file == nil ? path : nil, file ?? -1, name)
        guard [0, ENODATA, ENOTSUP].contains(failure) else { throw .system("mark", path, errno: failure) }
    }

    private static func read(
        _ path: String, _ call: (UnsafeMutableRawPointer?, Int, inout Int) -> Int32
    ) throws(DataProtectionError) -> Data? {
        var failure = ERANGE
        // The attribute may grow between the two calls.
        for _ in 0..<10 where failure == ERANGE {
            var count = 0
            failure = call(nil, 0, &count)
            if failure != 0 { break }
            if count == 0 { return Data() }
            var value = Data(count: count)
            failure = value.withUnsafeMutableBytes { call($0.baseAddress, $0.count, &count) }
            if failure == 0 { return value.prefix(count) }
        }
        if failure == ENODATA || failure == ENOTSUP { return nil }
        throw .system("read the attributes of", path, errno: failure)
    }
}
