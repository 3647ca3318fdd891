internal import Foundation
internal import Glibc
internal import KeychainCrypto
internal import KeychainModel

/// A header that its key has vouched for.
struct VerifiedHeader {
    let header: FileHeader
    let fileKey: KeyMaterial

    /// Whether what it refers to may be on no disk, since another start of the system than the present one wrote it.
    func isOfAnotherStart(_ bootID: UUID?) -> Bool {
        guard !header.isDurable else { return false }
        guard let bootID else { return true }
        return header.bootMark != FileHeader.bootMark(of: bootID, fileKey: fileKey, fileID: header.key.fileID)
    }
}

/// The two copies of a file's header, each looked at by itself.
struct HeaderCopies {
    enum Copy {
        case verified(VerifiedHeader)
        /// Not written whole, or damaged since.
        case broken
        /// Whole, and not made by somebody who had the key; or of no use in another way.
        case refused(String)
        case newerFormat(UInt16)
    }

    let copies: [Copy]

    /// - Parameter page: The first page, or as much as there is of it.
    /// - Throws: `.notProtected`, `.newerFormat`, or why the keychain does not give the file's key.
    init(_ page: Data, _ path: String, _ keys: FileKeys) throws(DataProtectionError) {
        guard page.withUnsafeBytes(FileFormat.isProtected) else {
            throw DataProtectionError(FileFormatError.notProtected, path)
        }
        let page = page + Data(count: FileFormat.headerByteCount - page.count)
        var copies: [Copy] = []
        var refusal: DataProtectionError?
        let parsed = FileFormat.slotOffsets.indices.map { Self.parse($0, of: page) }
        for (number, result) in parsed.enumerated() {
            switch result {
            case .failure(.newerFormat(let version)): copies.append(.newerFormat(version))
            case .failure(.tampered(let reason)):
                copies.append(Self.isWhole(number, of: page) ? .refused(reason) : .broken)
            case .failure: copies.append(.broken)
            case .success(let claim):
                do throws(DataProtectionError) {
                    copies.append(.verified(try Self.verify(claim, path, keys)))
                } catch {
                    // The newest one says which key counts; with the other one's alone nobody would know what is missing.
                    let isNewest = parsed.allSatisfy { other in
                        guard case .success(let other) = other else { return true }
                        return other.claimed.sequence <= claim.claimed.sequence
                    }
                    switch error.code {
                    case .tampered: copies.append(.refused(error.message))
                    case .wrongKey where !isNewest: copies.append(.refused(error.message))
                    case .wrongKey:
                        refusal = error
                        copies.append(.refused(error.message))
                    default: throw error
                    }
                }
            }
        }
        self.copies = copies
        guard verified.isEmpty else { return }
        if let refusal { throw refusal }
        let versions = copies.compactMap { if case .newerFormat(let version) = $0 { version } else { nil } }
        if let version = versions.max() { throw DataProtectionError(.newerFormat(version), path) }
    }

    /// What one copy would be, were it the only one.
    private static func parse(_ number: Int, of page: Data) -> Result<UnverifiedFileHeader, FileFormatError> {
        var alone = page
        let other = FileFormat.slotOffsets[1 - number]
        alone.replaceSubrange(other..<(other + FileFormat.slotByteCount), with: Data(count: FileFormat.slotByteCount))
        return Result { () throws(FileFormatError) in try FileHeader.inFirstPage(alone).newest }
    }

    /// Whether its checksum fits, whatever else is wrong with it.
    private static func isWhole(_ number: Int, of page: Data) -> Bool {
        var alone = page
        let other = FileFormat.slotOffsets[1 - number]
        alone.replaceSubrange(other..<(other + FileFormat.slotByteCount), with: Data(count: FileFormat.slotByteCount))
        return FileHeader.intactCopies(in: alone)[number]
    }

    private static func verify(
        _ claim: UnverifiedFileHeader, _ path: String, _ keys: FileKeys
    ) throws(DataProtectionError) -> VerifiedHeader {
        let key = try keys.ask(.open(claim.claimed.key), path)
        let fileKey = try KeyMaterial(key.key, path)
        do throws(FileFormatError) {
            return VerifiedHeader(header: try claim.verified(fileKey: fileKey), fileKey: fileKey)
        } catch {
            throw DataProtectionError(error, path)
        }
    }

    /// Those that can be believed, the newest first.
    var verified: [VerifiedHeader] {
        copies.compactMap { if case .verified(let header) = $0 { header } else { nil } }
            .sorted { $0.header.sequence > $1.header.sequence }
    }

    /// The copy that can be written anew from the other one.
    var repairable: Int? {
        guard !verified.isEmpty else { return nil }
        return copies.firstIndex { if case .broken = $0 { true } else { false } }
    }
}
