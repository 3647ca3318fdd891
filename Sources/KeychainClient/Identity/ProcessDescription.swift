internal import FoundationEssentials
internal import KeychainModel
internal import KeychainSystem

/// The facts that a process can tell about itself; a parameter, so that tests can be other processes.
struct ProcessDescription {
    /// The path of the running program.
    var executable: String
    var bundleIdentifier: String?
    /// The section that the plugin AppleCompatibility puts into programs; empty if there is none.
    var embeddedSection: Data

    static var current: ProcessDescription {
        let path = OwnProgram.path
        return ProcessDescription(
            executable: path, bundleIdentifier: bundleIdentifier(of: path), embeddedSection: embedded)
    }

    /// The file that gives the executable entitlements, whether it is there or not.
    var entitlementsFile: String { executable + ".entitlements" }

    var executableName: String { URL(fileURLWithPath: executable).lastPathComponent }

    /// The name that the program is known by: its application identifier, else its bundle's, else that of its file.
    func name() throws(KeychainError) -> String {
        let named =
            if let embedded = try embeddedEntitlements() { embedded } else { try entitlements(at: entitlementsFile) }
        return named?.application ?? bundleIdentifier ?? executableName
    }

    /// The identifier of the program's bundle, as Foundation finds it: the bundle is the program's directory, or the one that
    /// has the program in `Contents/Linux`. A directory `Contents` or `Resources` in it has the list.
    static func bundleIdentifier(of executable: String) -> String? {
        struct Information: Decodable {
            let CFBundleIdentifier: String
        }
        var bundle = URL(fileURLWithPath: executable).deletingLastPathComponent()
        if bundle.pathComponents.suffix(2) == ["Contents", "Linux"] {
            bundle = bundle.deletingLastPathComponent().deletingLastPathComponent()
        }
        let place =
            ["Contents", "Resources"].lazy.map { bundle.appendingPathComponent($0) }
            .first { FilePath.exists($0.path) } ?? bundle
        guard let bytes = try? Data(contentsOf: place.appendingPathComponent("Info.plist")) else { return nil }
        return try? PropertyListDecoder().decode(Information.self, from: bytes).CFBundleIdentifier
    }

    private static var embedded: Data {
        var count = 0
        guard let start = ckeychain_embedded_entitlements(&count) else { return Data() }
        return Data(bytes: start, count: count)
    }

    func embeddedEntitlements() throws(KeychainError) -> Entitlements? {
        guard let record = try EmbeddedEntitlements.records(in: embeddedSection).min(by: { $0.kind < $1.kind }) else {
            return nil
        }
        return try Entitlements(propertyList: record.propertyList, from: executable)
    }

    func entitlements(at file: String) throws(KeychainError) -> Entitlements? {
        guard FilePath.exists(file) else { return nil }
        do {
            return try Entitlements(propertyList: try Data(contentsOf: URL(fileURLWithPath: file)), from: file)
        } catch let error as KeychainError {
            throw error
        } catch {
            throw KeychainError(
                .notAvailable, message: "the entitlements in \(file) cannot be read", cause: error)
        }
    }
}
