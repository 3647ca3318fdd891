package import FoundationEssentials

/// The purpose of a derived key, beyond its label: the store, and all else that tells two keys of one store apart.
package struct KeyContext: Sendable {
    private var bytes: [UInt8]

    package init(_ storeID: UUID) {
        bytes = Swift.withUnsafeBytes(of: storeID.uuid, Array.init)
    }

    /// The context followed by an integer in big-endian order.
    package func adding(_ integer: some FixedWidthInteger) -> KeyContext {
        var context = self
        Swift.withUnsafeBytes(of: integer.bigEndian) { context.bytes += $0 }
        return context
    }

    /// The context followed by the 16 bytes of an identifier.
    func adding(_ identifier: UUID) -> KeyContext {
        var context = self
        Swift.withUnsafeBytes(of: identifier.uuid) { context.bytes += $0 }
        return context
    }

    /// The context followed by bytes as they are.
    func adding(_ bytes: Data) -> KeyContext {
        var context = self
        context.bytes += bytes
        return context
    }

    func withInfo<R, E: Error>(_ label: String, _ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        let info = Array(label.utf8) + bytes
        return try info.withUnsafeBytes { info in Result { () throws(E) in try body(info) } }.get()
    }

    func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try withInfo("", body)
    }
}
