package import FoundationEssentials

/// One half of a row as it lies on disk.
package struct SealedHalf: Sendable {
    /// A fresh 256-bit key, wrapped (RFC 3394): 40 bytes, and more of a secret that an authentication is part of the key
    /// of (``ConstraintKeys``).
    package var wrappedKey: Data
    /// 12 bytes of nonce, the padded plaintext under AES-256-GCM, 16 bytes of tag.
    package var box: Data

    package init(wrappedKey: Data, box: Data) {
        self.wrappedKey = wrappedKey
        self.box = box
    }
}

extension SealedHalf {
    /// The mark of this half, which no other half ever sealed has.
    package var tag: Data { Data(box.suffix(AESGCM.tagByteCount)) }

    /// The tag of a box that lies elsewhere.
    package static func tag(ofBox box: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: box.suffix(AESGCM.tagByteCount))
    }
}
