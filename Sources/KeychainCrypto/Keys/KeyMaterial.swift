package import KeychainModel

/// A 256-bit key that stays around: in memory of its own, out of core dumps and, where the system allows, out of swap.
///
/// The bytes are erased on release. They are handed out only for the length of a closure, so that no
/// `Data` ever holds a key longer than one call.
package final class KeyMaterial: Sendable {
    package static let byteCount = 32

    private let memory: KeyMemory

    package var memoryKind: KeyMemoryKind { memory.kind }

    /// - Throws: `.allocation` if no memory can be mapped; the errors of `fill`.
    package init(filling fill: (UnsafeMutableRawBufferPointer) throws(KeychainError) -> Void) throws(KeychainError) {
        memory = try KeyMemory()
        try fill(UnsafeMutableRawBufferPointer(rebasing: memory.bytes[..<Self.byteCount]))
    }

    package convenience init(from randomness: some Randomness) throws(KeychainError) {
        try self.init { target throws(KeychainError) in try randomness.fill(target) }
    }

    package func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try body(UnsafeRawBufferPointer(rebasing: memory.bytes[..<Self.byteCount]))
    }
}

extension KeyMaterial {
    /// HKDF-Expand(key, label ‖ store id ‖ more), for the length of a closure.
    func withDerived<R, E: Error>(
        _ label: String, _ context: KeyContext, _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        try withUnsafeBytes { key throws(E) in
            try context.withInfo(label) { info throws(E) in
                try KeyedHash.withExpanded(key, info: info, body)
            }
        }
    }

    /// The derived key in memory that stays.
    package func derived(_ label: String, _ context: KeyContext) throws(KeychainError) -> KeyMaterial {
        try withDerived(label, context) { key throws(KeychainError) in
            try KeyMaterial { target throws(KeychainError) in target.copyMemory(from: key) }
        }
    }
}

extension KeyMaterial: Redacted {}
