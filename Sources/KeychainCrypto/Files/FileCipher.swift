package import FoundationEssentials
package import KeychainModel
internal import Synchronization

/// Seals and opens the chunks and nodes of one protected file.
package struct FileCipher: Sendable {
    private let fileID: UUID
    private let keys: ContentKeys

    package init(fileKey: KeyMaterial, fileID: UUID) {
        self.fileID = fileID
        keys = ContentKeys(fileKey, fileID)
    }

    /// Seals a chunk (level 0) or a node; ``ContentCipher`` says more.
    package func seal(
        _ plaintext: UnsafeRawBufferPointer, level: UInt8, index: UInt64, entry: inout FileEntry,
        into ciphertext: UnsafeMutableRawBufferPointer
    ) throws(KeychainError) {
        var sealed = entry
        try withContentKey(for: entry.writeCount) { cipher throws(KeychainError) in
            try cipher.seal(plaintext, level: level, index: index, entry: &sealed, into: ciphertext)
        }
        entry = sealed
    }

    /// Opens a chunk or a node; false if it is not as it was sealed.
    package func open(
        _ ciphertext: UnsafeRawBufferPointer, level: UInt8, index: UInt64, entry: FileEntry,
        into plaintext: UnsafeMutableRawBufferPointer
    ) -> Bool {
        withContentKey(for: entry.writeCount) { cipher in
            cipher.open(ciphertext, level: level, index: index, entry: entry, into: plaintext)
        }
    }

    /// For several chunks: calls `body` with the cipher of the epoch that this write count belongs to. Its keys are on
    /// the stack and erased when `body` ends.
    package func withContentKey<R, E: Error>(
        for writeCount: UInt64, _ body: (ContentCipher) throws(E) -> R
    ) throws(E) -> R {
        defer { KeyTraces.eraseOfCipher() }
        let epoch = writeCount >> FileFormat.epochBits
        return try keys.withKey(of: epoch) { key throws(E) in
            try LibraryState.with(byteCount: LibraryState.cipher) { state in
                let isReady = CCryptoBoringSSL_EVP_AEAD_CTX_init(
                    state, CCryptoBoringSSL_EVP_aead_aes_256_gcm(), key.octets, key.count, AESGCM.tagByteCount, nil)
                precondition(isReady == 1, "a key of 32 bytes is always one")
                defer { CCryptoBoringSSL_EVP_AEAD_CTX_cleanup(state) }
                let cipher = ContentCipher(state: state, fileID: fileID, epoch: epoch)
                return Result { () throws(E) in try body(cipher) }
            }.get()
        }
    }
}

/// The content keys of one file, of which the last one is kept: deriving it takes as long as reading a chunk.
private final class ContentKeys: Sendable {
    private struct Known {
        let epoch: UInt64
        /// nil: it was needed once. Most files are, and a key that is kept takes memory that is locked.
        var key: KeyMaterial?
    }
    private let fileKey: KeyMaterial
    private let fileID: UUID
    private let known = Mutex<Known?>(nil)

    init(_ fileKey: KeyMaterial, _ fileID: UUID) {
        self.fileKey = fileKey
        self.fileID = fileID
    }

    func withKey<R, E: Error>(
        of epoch: UInt64, _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        let last = known.withLock { $0 }
        if let last, last.epoch == epoch, let key = last.key { return try key.withUnsafeBytes(body) }
        return try fileKey.withDerived("file content 1", KeyContext(fileID).adding(epoch)) { key throws(E) in
            let isNeededAgain = last?.epoch == epoch
            // Without memory to keep it, it is derived each time.
            let kept = isNeededAgain ? try? KeyMaterial { $0.copyMemory(from: key) } : nil
            known.withLock { $0 = Known(epoch: epoch, key: kept) }
            return try body(key)
        }
    }
}

/// One content key of one file. Several threads may use it, but only within the closure that it was given to.
package struct ContentCipher: @unchecked Sendable {  // sealing and opening only read the state
    fileprivate let state: UnsafeRawPointer
    fileprivate let fileID: UUID
    fileprivate let epoch: UInt64

    /// Whether this key is the one for a write count.
    package func serves(_ writeCount: UInt64) -> Bool { writeCount >> FileFormat.epochBits == epoch }

    /// Seals a chunk (level 0) or a node.
    ///
    /// - Parameters:
    ///   - entry: Has page, write count, length and a fresh nonce; is given the tag.
    ///   - ciphertext: As long as the plaintext, and the same memory or none of it.
    package func seal(
        _ plaintext: UnsafeRawBufferPointer, level: UInt8, index: UInt64, entry: inout FileEntry,
        into ciphertext: UnsafeMutableRawBufferPointer
    ) throws(KeychainError) {
        precondition(ciphertext.count == plaintext.count && Int(entry.length) == plaintext.count)
        precondition(serves(entry.writeCount))
        let nonce = entry.nonce
        let writeCount = entry.writeCount
        let isSealed = entry.tag.withUnsafeMutableBytes { tag in
            var written = 0
            return nonce.withUnsafeBytes { nonce in
                withAssociated(level, index, writeCount) { associated in
                    CCryptoBoringSSL_EVP_AEAD_CTX_seal_scatter(
                        state, ciphertext.octets, tag.octets, &written, tag.count, nonce.octets, nonce.count,
                        plaintext.octets, plaintext.count, nil, 0, associated.octets, associated.count) == 1
                        && written == tag.count
                }
            }
        }
        guard isSealed else { throw KeychainError(.internalFailure, message: "content could not be sealed") }
    }

    /// Opens what ``seal(_:level:index:entry:into:)`` made.
    ///
    /// - Parameter plaintext: As long as the ciphertext, and the same memory or none of it. Zeros if it does not open.
    /// - Returns: false if it is anything else.
    package func open(
        _ ciphertext: UnsafeRawBufferPointer, level: UInt8, index: UInt64, entry: FileEntry,
        into plaintext: UnsafeMutableRawBufferPointer
    ) -> Bool {
        precondition(ciphertext.count == plaintext.count && serves(entry.writeCount))
        return entry.tag.withUnsafeBytes { tag in
            entry.nonce.withUnsafeBytes { nonce in
                withAssociated(level, index, entry.writeCount) { associated in
                    LibraryOutput.leavingNoErrors(
                        ofFailure: CCryptoBoringSSL_EVP_AEAD_CTX_open_gather(
                            state, plaintext.octets, nonce.octets, nonce.count, ciphertext.octets, ciphertext.count,
                            tag.octets, tag.count, associated.octets, associated.count) == 1)
                }
            }
        }
    }

    /// File id ‖ level ‖ index ‖ write count.
    private func withAssociated<R>(
        _ level: UInt8, _ index: UInt64, _ writeCount: UInt64, _ body: (UnsafeRawBufferPointer) -> R
    ) -> R {
        withUnsafeTemporaryAllocation(byteCount: 33, alignment: 1) { bytes in
            withUnsafeBytes(of: fileID.uuid) { bytes.copyMemory(from: $0) }
            bytes[16] = level
            bytes.storeBytes(of: index.bigEndian, toByteOffset: 17, as: UInt64.self)
            bytes.storeBytes(of: writeCount.bigEndian, toByteOffset: 25, as: UInt64.self)
            return body(UnsafeRawBufferPointer(bytes))
        }
    }
}

extension Randomness {
    /// Draws nonces for as many seals.
    package func nonces(_ count: Int) throws(KeychainError) -> [InlineBytes<12>] {
        var nonces = [InlineBytes<12>](repeating: InlineBytes(), count: count)
        try nonces.withUnsafeMutableBytes { bytes in
            Result { () throws(KeychainError) in try fill(bytes) }
        }.get()
        return nonces
    }
}
