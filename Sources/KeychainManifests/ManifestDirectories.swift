internal import FoundationEssentials
package import Glibc
package import KeychainModel
package import KeychainSystem

/// The directories of manifests. A file in a later one replaces the file of the same name in an earlier one.
package struct ManifestDirectories: Sendable {
    package static let ofSystem = ManifestDirectories([
        "/usr/share/keychain/entitlements.d", "/etc/keychain/entitlements.d",
    ])

    let paths: [String]
    let owner: uid_t
    let accounts: Accounts

    /// - Parameters:
    ///   - paths: Absolute paths.
    ///   - owner: The user that files and directories have to belong to, if not to root.
    package init(_ paths: [String], owner: uid_t = 0, accounts: Accounts = .ofSystem) {
        self.paths = paths
        self.owner = owner
        self.accounts = accounts
    }

    /// Whether a file in its place would be read.
    package func contains(_ file: String) -> Bool {
        paths.contains { FilePath.isSame($0, FilePath.directory(of: file)) }
    }

    /// All that there is. Neither a file nor a directory that is absent is a flaw.
    package func read() -> (manifests: [EntitlementManifest], flaws: [ManifestFlaw]) {
        var flaws: [ManifestFlaw] = []
        var files: [PathKey: Result<EntitlementManifest, ManifestFlaw>] = [:]
        for path in paths {
            do throws(ManifestFlaw) {
                guard let (directory, flaw) = try GuardedDirectory.open(path, owner: owner) else { continue }
                if let flaw { flaws.append(flaw) }
                for name in try directory.names() {
                    let key = PathKey(name)
                    files[key] = manifest(name, in: directory, flaw).instead(of: files[key])
                }
            } catch {
                flaws.append(error)
            }
        }
        flaws += files.values.compactMap(\.flaw)
        let bySubject = Dictionary(grouping: files.values.compactMap { try? $0.get() }, by: \.subject)
        flaws += bySubject.values.filter { $0.count > 1 }.flatMap(Self.rivals)
        // A faulty file beside a sound one could be the one that counts.
        let refused = Set(flaws.compactMap(\.subject))
        let manifests = bySubject.values.flatMap(\.self).filter { !refused.contains($0.subject) }
        return (manifests.sorted { $0.path < $1.path }, flaws.sorted { ($0.path, $0.text) < ($1.path, $1.text) })
    }

    private func manifest(
        _ name: String, in directory: GuardedDirectory, _ flaw: ManifestFlaw?
    ) -> Result<EntitlementManifest, ManifestFlaw> {
        let path = FilePath.join(directory.path, name)
        do throws(ManifestFlaw) {
            let (bytes, ownFlaw) = try directory.content(of: name)
            let manifest = try EntitlementManifest(bytes, path: path, accounts: accounts)
            guard let text = ownFlaw ?? flaw.map({ "lies in \($0.path), which \($0.text)" }) else {
                return .success(manifest)
            }
            throw ManifestFlaw(
                path: path, text: text, subject: manifest.subject, subjectName: manifest.subjectName)
        } catch {
            return .failure(error)
        }
    }

    private static func rivals(_ manifests: [EntitlementManifest]) -> [ManifestFlaw] {
        manifests.map { manifest in
            let others = manifests.filter { $0.path != manifest.path }.map(\.path).sorted().joined(separator: ", ")
            return ManifestFlaw(
                path: manifest.path, text: "is for \(manifest.subjectName), as \(others) is", subject: manifest.subject,
                subjectName: manifest.subjectName)
        }
    }

    /// Equal to an earlier one: nothing has changed since. It is to be taken before the manifests are read, so that a change
    /// meanwhile shows the next time.
    package func signature() -> ManifestSignature {
        let stamps = paths.map { GuardedDirectory.signature($0, owner: owner) }
        return ManifestSignature(
            entries: stamps.flatMap { $0 ?? [] } + Self.accountFiles.map { FileStamp($0) },
            doubt: stamps.contains(nil) ? .random(in: .min ... .max) : nil)
    }

    /// A group that gets a member is no identity any more.
    private static let accountFiles = ["/etc/passwd", "/etc/group"]
}

/// The state of all manifests.
package struct ManifestSignature: Hashable, Sendable {
    let entries: [FileStamp?]
    /// If the state cannot be told, a number that no other signature has.
    let doubt: UInt64?
}

extension Result<EntitlementManifest, ManifestFlaw> {
    fileprivate var flaw: ManifestFlaw? {
        if case .failure(let flaw) = self { flaw } else { nil }
    }

    /// A faulty file that does not tell its program is for the program of the file that it replaces.
    fileprivate func instead(of replaced: Self?) -> Self {
        guard case .failure(var flaw) = self, flaw.subject == nil, let replaced else { return self }
        switch replaced {
        case .success(let manifest): (flaw.subject, flaw.subjectName) = (manifest.subject, manifest.subjectName)
        case .failure(let former): (flaw.subject, flaw.subjectName) = (former.subject, former.subjectName)
        }
        return .failure(flaw)
    }
}

extension ManifestDirectories {
    /// The flaws of one manifest. If the file is not installed, only its content is judged.
    package func flaws(of path: String) throws(KeychainError) -> [ManifestFlaw] {
        if contains(path) { return read().flaws.filter { $0.concerns(path) } }
        let most = EntitlementManifest.mostBytes + 1
        guard let bytes = try OwnFile.content(of: URL(fileURLWithPath: path), most: most, of: .anybody) else {
            throw KeychainError(.itemNotFound, message: "there is no file \(path)")
        }
        do throws(ManifestFlaw) {
            // A package makes its accounts only when it is installed.
            _ = try EntitlementManifest(bytes, path: path, accounts: .ofAnySystem)
            return []
        } catch {
            return [error]
        }
    }
}
