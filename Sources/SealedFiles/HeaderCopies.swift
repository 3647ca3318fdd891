package import FoundationEssentials
internal import Glibc
package import KeychainCrypto
internal import KeychainModel

/// A header whose tag was verified with the file's key.
package struct VerifiedHeader {
    package let header: FileHeader
    package let fileKey: KeyMaterial

    /// The mark of a start of the system in headers of this file.
    package func bootMark(of bootID: UUID) -> FileHeader.BootMark {
        FileHeader.bootMark(of: bootID, fileKey: fileKey, fileID: header.key.fileID)
    }
}

/// The two copies of a file's header, each examined on its own.
package struct HeaderCopies {
    package enum Copy {
        case verified(VerifiedHeader)
        /// The copy was not written whole, or was damaged since.
        case broken
        /// The copy is whole, and was not made with the file's key, or is useless for another reason.
        case refused(String)
        case newerFormat(UInt16)
    }

    package let copies: [Copy]

    /// Examines both copies.
    ///
    /// - Parameter page: The first page, or the part of it that the file has.
    /// - Throws: `.notProtected`, `.newerFormat`, or the reason for which the keychain does not give the file's key.
    package init(_ page: Data, _ path: String, _ keys: any FileKeySource) throws(DataProtectionError) {
        guard page.withUnsafeBytes(FileFormat.isProtected) else {
            throw DataProtectionError(FileFormatError.notProtected, path)
        }
        let page = page + Data(count: FileFormat.headerByteCount - page.count)
        var copies: [Copy] = []
        var refusal: DataProtectionError?
        // Each copy is examined as if it were the only one.
        let pages = FileFormat.slotOffsets.map { offset in
            var alone = Data(count: page.count)
            let slot = offset..<(offset + FileFormat.slotByteCount)
            alone.replaceSubrange(slot, with: page[slot])
            return alone
        }
        let parsed = pages.map { page in
            Result { () throws(FileFormatError) in try FileHeader.inFirstPage(page).newest }
        }
        for (number, result) in parsed.enumerated() {
            switch result {
            case .failure(.newerFormat(let version)): copies.append(.newerFormat(version))
            case .failure(.tampered(let reason)):
                copies.append(FileHeader.intactCopies(in: pages[number])[number] ? .refused(reason) : .broken)
            case .failure: copies.append(.broken)
            case .success(let claim):
                do throws(DataProtectionError) {
                    copies.append(.verified(try Self.verify(claim, path, keys)))
                } catch {
                    // The newest copy says which key counts. A check with the key of the older copy alone could not
                    // tell what is missing.
                    let isNewest = parsed.allSatisfy { other in
                        guard case .success(let other) = other else { return true }
                        return other.claimed.sequence <= claim.claimed.sequence
                    }
                    guard error.code == .tampered || error.code == .wrongKey else { throw error }
                    if error.code == .wrongKey && isNewest { refusal = error }
                    copies.append(.refused(error.message))
                }
            }
        }
        self.copies = copies
        guard verified.isEmpty else { return }
        if let refusal { throw refusal }
        let versions = copies.compactMap { if case .newerFormat(let version) = $0 { version } else { nil } }
        if let version = versions.max() { throw DataProtectionError(.newerFormat(version), path) }
    }

    private static func verify(
        _ claim: UnverifiedFileHeader, _ path: String, _ keys: any FileKeySource
    ) throws(DataProtectionError) -> VerifiedHeader {
        let fileKey = try keys.open(claim.claimed.key, path)
        return try withFormatErrors(path) { () throws(FileFormatError) in
            VerifiedHeader(header: try claim.verified(fileKey: fileKey), fileKey: fileKey)
        }
    }

    /// The copies that can be trusted, the newest first.
    package var verified: [VerifiedHeader] {
        copies.compactMap { if case .verified(let header) = $0 { header } else { nil } }
            .sorted { $0.header.sequence > $1.header.sequence }
    }

    /// The number of the copy that can be written from the other one.
    package var repairable: Int? {
        guard !verified.isEmpty else { return nil }
        return copies.firstIndex { if case .broken = $0 { true } else { false } }
    }
}
