package import KeychainModel

@_extern(c) private func keychain_embedded_open(_ box: UnsafeMutableRawPointer)

/// The host in this process.
package enum Embedded {
    package static let host: any EmbeddedHost = {
        let box = EmbeddedHostBox()
        keychain_embedded_open(Unmanaged.passUnretained(box).toOpaque())
        return box.host!  // the function sets it
    }()
}
