internal import KeychainCrypto
internal import KeychainModel
internal import KeychainSystem

/// Memory for one chunk of an export, open and sealed, and the count of the chunks so far.
///
/// The nonce is the chunk's number and whether it is the last one. So no chunk can be left out, moved, doubled or
/// added, and a file that was cut off between two chunks lacks its last one.
final class ExportChunk {
    /// The size of every chunk but the last one.
    static let byteCount = 64 << 10
    static let sealedByteCount = byteCount + AESGCM.tagByteCount

    /// The plaintext.
    let content = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 16)
    /// The nonce, which is not part of the file, ciphertext and tag.
    private let box = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount + AESGCM.overhead, alignment: 16)
    private let key: KeyMaterial
    private var number: UInt64 = 0

    init(_ key: KeyMaterial) { self.key = key }

    deinit {
        ckeychain_erase(content.baseAddress, content.count)
        content.deallocate()
        box.deallocate()
    }

    /// Where a chunk with so many bytes of plaintext is, or is to be put, as it is in the file.
    func sealed(_ count: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: box[AESGCM.nonceByteCount..<(count + AESGCM.overhead)])
    }

    /// Seals the first bytes of the content.
    func seal(_ count: Int, isLast: Bool) throws(KeychainError) {
        let isSealed = withNonce(isLast) { nonce in
            key.withUnsafeBytes { key in
                AESGCM.seal(
                    UnsafeRawBufferPointer(rebasing: content[..<count]), key: key, nonce: nonce,
                    associated: UnsafeRawBufferPointer(start: nil, count: 0),
                    into: UnsafeMutableRawBufferPointer(rebasing: box[..<(count + AESGCM.overhead)]))
            }
        }
        guard isSealed else { throw KeychainError(.internalFailure, message: "the export could not be sealed") }
        number += 1
    }

    /// Opens a chunk that was put into its place.
    ///
    /// - Throws: `.decode` if it is not the next chunk of the file, as that was made.
    func open(_ count: Int, isLast: Bool) throws(KeychainError) {
        let isOpen = withNonce(isLast) { nonce in
            box.copyMemory(from: nonce)
            return key.withUnsafeBytes { key in
                AESGCM.open(
                    UnsafeRawBufferPointer(rebasing: box[..<(count + AESGCM.overhead)]), key: key,
                    associated: UnsafeRawBufferPointer(start: nil, count: 0),
                    into: UnsafeMutableRawBufferPointer(rebasing: content[..<count]))
            }
        }
        guard isOpen else {
            throw .damagedExport("a part of it was changed, or its end is missing")
        }
        number += 1
    }

    /// The number in eleven bytes, big-endian, and 1 for the last chunk or 0.
    private func withNonce(_ isLast: Bool, _ body: (UnsafeRawBufferPointer) -> Bool) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: AESGCM.nonceByteCount, alignment: 16) { nonce in
            nonce.initializeMemory(as: UInt8.self, repeating: 0)
            nonce.storeBytes(of: number.bigEndian, toByteOffset: 3, as: UInt64.self)
            nonce[11] = isLast ? 1 : 0
            return body(UnsafeRawBufferPointer(nonce))
        }
    }
}
