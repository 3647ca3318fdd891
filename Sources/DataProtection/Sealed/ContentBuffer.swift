@_implementationOnly import CKeychainLinux

/// Memory for content on its way, erased on release.
final class ContentBuffer: @unchecked Sendable {  // its owner shares it with nobody
    let bytes: UnsafeMutableRawBufferPointer

    /// - Parameter count: A whole number of pages does not share one with anything else.
    init(count: Int) {
        bytes = .allocate(byteCount: count, alignment: 4096)
    }

    deinit {
        ckeychain_erase(bytes.baseAddress, bytes.count)
        bytes.deallocate()
    }
}
