internal import DataProtection
internal import Foundation

/// The report of `file info` on one file, in words and as JSON.
struct FileInfoReport {
    private enum Kind {
        case plain
        case directory(FileProtection?)
        case protected(ProtectedFileInfo)
    }

    private let path: String
    private let kind: Kind
    /// The identifier of the keychain in use; nil: there is no keychain.
    private let storeID: UUID?

    init(_ path: String, _ files: ProtectedFiles, _ storeID: UUID?) throws(DataProtectionError) {
        self.path = path
        self.storeID = storeID
        let url = URL(namedByPerson: path)
        var isDirectory: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue {
            kind = .directory(try files.protection(of: url))
        } else if try files.isProtected(url) {
            kind = .protected(try files.info(of: url))
        } else {
            kind = .plain
        }
    }

    // MARK: Words

    var text: String {
        var lines = Lines()
        lines.add("File", path)
        switch kind {
        case .plain: lines.add("Class", "- (a plain file; 'keychainctl file protect' encrypts it)")
        case .directory(let protection?): lines.add("Class", "new files in it get \(name(protection))")
        case .directory(nil):
            lines.add("Class", "a directory that gives none: new files in it get \(Self.usual), if they are protected")
        case .protected(let info): add(info, to: &lines)
        }
        return lines.text
    }

    private static let usual = FileClassName.completeUntilFirstUserAuthentication.rawValue

    private func name(_ protection: FileProtection) -> String { FileClassName(protection).rawValue }

    private func add(_ info: ProtectedFileInfo, to lines: inout Lines) {
        lines.add("Class", name(info.protection))
        lines.add("Opens", info.refusal.map { "no: \($0.message)" } ?? "yes")
        lines.add("Content", ByteCount.text(Int64(clamping: info.length)))
        lines.add("On disk", ByteCount.text(Int64(clamping: info.storedSize)))
        lines.add(
            "Headers",
            info.hasBothHeaders
                ? "both are whole"
                : "one of the two is damaged, and the other serves; 'keychainctl file class --set "
                    + "\(name(info.protection))' writes both anew")
        lines.add("Keychain", info.keychain.uuidString.lowercased() + relation(info))
        lines.add("Key", "generation \(info.keyGeneration)")
        lines.add("Chunks", ByteCount.text(Int64(info.chunkSize)))
    }

    private func relation(_ info: ProtectedFileInfo) -> String {
        switch isThisKeychain(info) {
        case true?: ", this one"
        case false?: ", another one"
        case nil: ""
        }
    }

    private func isThisKeychain(_ info: ProtectedFileInfo) -> Bool? { storeID.map { $0 == info.keychain } }

    // MARK: JSON

    var json: JSONValue {
        let path = (key: "path", value: JSONValue.string(path))
        switch kind {
        case .plain: return .object([path, ("kind", .string("plain")), ("class", .null)])
        case .directory(let protection):
            return .object([
                path, ("kind", .string("directory")), ("class", protection.map { .string(name($0)) } ?? .null),
            ])
        case .protected(let info): return .object([path, ("kind", .string("protected"))] + members(info))
        }
    }

    private func members(_ info: ProtectedFileInfo) -> [(key: String, value: JSONValue)] {
        [
            ("class", .string(name(info.protection))), ("length", .number(Int64(clamping: info.length))),
            ("storedSize", .number(Int64(clamping: info.storedSize))), ("opens", .boolean(info.refusal == nil)),
            ("refusal", info.refusal.map { .string($0.code.rawValue) } ?? .null),
            ("reason", info.refusal.map { .string($0.message) } ?? .null),
            ("bothHeaders", .boolean(info.hasBothHeaders)),
            ("keychain", .string(info.keychain.uuidString.lowercased())),
            ("isThisKeychain", isThisKeychain(info).map { .boolean($0) } ?? .null),
            ("keyGeneration", .number(Int64(info.keyGeneration))), ("chunkSize", .number(Int64(info.chunkSize))),
            ("fileID", .string(info.identifier.uuidString.lowercased())),
        ]
    }
}
