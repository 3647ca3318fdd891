internal import CKeychainFuse
internal import Glibc
internal import KeychainSystem

/// The kernel's end of a mount: a descriptor from which requests are read and to which answers are written.
final class Device: Sendable {
    /// The most bytes that one request writes or reads.
    static let mostContent = 1 << 20
    /// The memory for a request, and for an answer.
    static let bufferSize = mostContent + 4096

    private let descriptor: OpenDescriptor

    init(_ descriptor: OpenDescriptor) { self.descriptor = descriptor }

    /// Waits for a request.
    ///
    /// - Returns: The number of its bytes. `nil` means that there is no mount any more.
    func receive(into memory: UnsafeMutableRawBufferPointer) -> Int? {
        while true {
            let count = read(descriptor.number, memory.baseAddress, memory.count)
            if count >= 0 { return count }
            // ENOENT: the program that asked has given up.
            guard [EINTR, EAGAIN, ENOENT].contains(errno) else { return nil }
        }
    }

    /// The kernel refuses an answer to a request that it has given up. That is no failure.
    func send(_ bytes: UnsafeRawBufferPointer) { _ = Glibc.write(descriptor.number, bytes.baseAddress, bytes.count) }

    // MARK: Notices to the kernel

    /// Tells the kernel to give up what it has of a file. With pages, the call waits until other threads have answered what
    /// the kernel asks meanwhile, so it is never made while answering.
    ///
    /// - Parameter withPages: Whether it gives up the content too, and not the attributes alone.
    func forget(_ node: UInt64, withPages: Bool) {
        let notice = fuse_notify_inval_inode_out(ino: node, off: withPages ? 0 : -1, len: 0)
        withUnsafeBytes(of: notice) { notify(FUSE_NOTIFY_INVAL_INODE, $0) }
    }

    private func notify(_ code: fuse_notify_code, _ payload: UnsafeRawBufferPointer) {
        let size = MemoryLayout<fuse_out_header>.size + payload.count
        let header = fuse_out_header(len: UInt32(size), error: Int32(code.rawValue), unique: 0)
        // The kernel refuses a notice about something that it has forgotten already.
        send(withUnsafeBytes(of: header) { Array($0) } + payload)
    }

    private func send(_ bytes: [UInt8]) { bytes.withUnsafeBytes { send($0) } }
}
