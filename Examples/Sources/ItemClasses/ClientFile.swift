import Foundation
import Security

/// The file that a server's administrator sends to a client: its certificate with the key, and the authority's certificate.
struct ClientFile {
    let identity: SecIdentity
    let certificate: SecCertificate
    let key: SecKey

    init() throws {
        var items: CFArray?
        let options = [kSecImportExportPassphrase: "example"] as CFDictionary
        try VaultError.check(SecPKCS12Import(Self.bytes as CFData, options, &items))
        guard let item = (items as? [[String: Any]])?.first else { throw VaultError.malformed }
        identity = item[kSecImportItemIdentity as String] as! SecIdentity
        var (certificate, key): (SecCertificate?, SecKey?)
        try VaultError.check(SecIdentityCopyCertificate(identity, &certificate))
        try VaultError.check(SecIdentityCopyPrivateKey(identity, &key))
        guard let certificate, let key else { throw VaultError.malformed }
        (self.certificate, self.key) = (certificate, key)
    }

    /// Made with OpenSSL for this program; the key is for nothing else.
    private static let bytes = Data(base64Encoded: text, options: .ignoreUnknownCharacters) ?? Data()
    private static let text = """
        MIIF2QIBAzCCBY8GCSqGSIb3DQEHAaCCBYAEggV8MIIFeDCCBBIGCSqGSIb3DQEHBqCCBAMwggP/AgEAMIID+AYJKoZIhvcNAQcBMFcGCSqGSIb3
        DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAjtelvLt7eZmQICCAAwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEEpQJPVYztAViNSXoZ1Pt3mAggOQ
        Z1ZICjDI49xhxhPwGHK2ua1AAAMyOgGV4WczQmS+J0bOs2lOtopwKyCE8OhZaJJE6bIN0bZWu7EerEUfDwDpy8jwmKmqHrxxUmBhKx5Ei03OPXl2
        QxTynYmIDB43RoiZOu1229qCQu+8hbVWY26+pbcax20J2b7SvuwlH+4IRJ01RKXBsT2PQ8Fh0AxOacMoLGspP7FE8dUl1uXUGUt7G6kDTChaSGmq
        CTGshuh9dyihjKcV6Gmu9eQPli0Rm7d/E5l6xEgqDuf6B/6E56lYWdAxI5Iq2zHrW0/KwblwP0RsozNuB6ugtmTht54lt65tTfKyrZxnTleTc1Fq
        8gwbco/VL2+Ga/nclJ5Q8a2CKIzFEQUvi8XaaWAzegKz/s4aV7qv+43QyJK4dQ18kQlpE8FZk0o6XjGhLzz4aZHaEQY4lLHVb+Yvu/CJNjEXhRzH
        /LFah8UGg0Csdt4tH55J5nKGZuJp+92egkpixbjKL1DAEQjLa1lpXbZU6aoD9LmojARdPx2HRgqwyWHDtrXUbb+aJ/RNKZ7r9/i3fIHwHkoEyADz
        Rfw0cPhjjnfffUOWMX5MfWlVPkOd30eaEo92HVNgpA+FsCWYyrSmOxFtHPwSTGokBJct/i0K7ozzYxT817pIOTWh8XnZnUx24hBzkV9yW+5HbzR6
        sdkn8F5gnPOAxySJR9c6xGiaf8U06xcijb1PHkwcyHC6MsZvKSgzFzHJ2PGoc/sCffat+oZxAP4GJZfvu/FLWJn+iFHBkXjkPmyddjXVGpnZW9ca
        ip3/2++1meWWGD0uwjmyT95dohuCUWQoe8UjYyub+ULGkY6RyqBXqboYqVZjDWltDtrK8g7Gg5yfuw1VrPuyFjsmajyKMkeHyxyG6tVRoYBEwObC
        Yramnm3TF61x6K4oe5Wx/YOFE0rzOW6MYkKCw4UidlU7uMAvfh0VYj2fkfzbINZ+FpRVqB6BsHxxq5ubcQ3Uma9ZY/YnJJcU1IFuoiRRy0VH8I7M
        hF363YFGXbyVJfej+sLohqRbpdVFIXeM6ssRBU03hbOgSzVy15CYnsDnz8FD7RDGaBAItypPhAbjl5cYk2Pv5h7RGNqZRCklOld9eMnSJcmZUGcz
        xXN3CBy7qgpG91a7vXlx9/OJcVpfIWvE1eqzADtS90XaHxlhdpNP2fI+4hvuksSCXp6lCcprEWYScivB9mIK/+/O2t20JamNMIIBXgYJKoZIhvcN
        AQcBoIIBTwSCAUswggFHMIIBQwYLKoZIhvcNAQwKAQKgge8wgewwVwYJKoZIhvcNAQUNMEowKQYJKoZIhvcNAQUMMBwECPy4WOnTCVLTAgIIADAM
        BggqhkiG9w0CCQUAMB0GCWCGSAFlAwQBKgQQG6pWuYChpFkPlAPkqj4cAwSBkAUVw1XxWDc9fPXTBd7rY4OVRziL6GeHiPHJPfkvfoX77BKeD7Yb
        zWZipz2zpEQE70/eH9nVu4I1YQ6pCTW9at6523Je06rbsbBQ/6Q6Ju5w3Q9eif2QGVJXOxXKDPdBJSxniaiZNDDW2g50KVVfNU5Hr7x/GN63tYKz
        FhfNsVUZo+4KMMed1gxOa2sC3pEdEDFCMBsGCSqGSIb3DQEJFDEOHgwAYwBsAGkAZQBuAHQwIwYJKoZIhvcNAQkVMRYEFGnAwLDhby8d/xrnbgz2
        pBuLi6jvMEEwMTANBglghkgBZQMEAgEFAAQgmuY2uI97EsXtXjDIjoMid6nOVM76R3wuWbhabqLkXZcECBRaC8/hYPQ0AgIIAA==
        """
}
