package import KeychainModel

/// The secret of an item of git's: the password or the credential, then the other parts, each behind a NUL. A password
/// has no NUL, so a plain one is stored as it is.
package struct GitSecret {
    package var main: SecretBytes
    package var expiry: UInt64?
    package var refreshToken: SecretBytes?

    private static let expiryKey: StaticString = "password_expiry_utc="
    private static let refreshTokenKey: StaticString = "oauth_refresh_token="

    package init(main: SecretBytes, expiry: UInt64?, refreshToken: SecretBytes?) {
        (self.main, self.expiry, self.refreshToken) = (main, expiry, refreshToken)
    }

    /// A part with another key comes from a later version, and is left out.
    package init(_ stored: SecretBytes) {
        main = SecretBytes(count: 0) { _ in }
        stored.withUnsafeBytes { bytes in
            for (number, part) in bytes.split(separator: 0, omittingEmptySubsequences: false).enumerated() {
                let part = UnsafeRawBufferPointer(rebasing: part)
                if number == 0 {
                    main = SecretBytes(copying: part)
                    continue
                }
                if let value = part.value(behind: Self.expiryKey) {
                    expiry = UInt64(String(decoding: value, as: UTF8.self))
                }
                if let value = part.value(behind: Self.refreshTokenKey) { refreshToken = SecretBytes(copying: value) }
            }
        }
    }

    package var stored: SecretBytes {
        let buffer = SecretBuffer()
        buffer.append(main)
        if let expiry {
            buffer.append("\0")
            buffer.append(Self.expiryKey)
            var digits = String(expiry)
            digits.withUTF8 { buffer.append(UnsafeRawBufferPointer($0)) }
        }
        if let refreshToken {
            buffer.append("\0")
            buffer.append(Self.refreshTokenKey)
            buffer.append(refreshToken)
        }
        return buffer.secret()
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func value(behind key: StaticString) -> UnsafeRawBufferPointer? {
        key.withUTF8Buffer { key in
            starts(with: key) ? UnsafeRawBufferPointer(rebasing: self[key.count...]) : nil
        }
    }
}
