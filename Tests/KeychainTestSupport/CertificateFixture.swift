package import Foundation

/// Certificates made with OpenSSL for these tests; nobody keeps their private keys.
package enum CertificateFixture {
    /// Version 3, P-256, subject `C=CH, O=Example Ltd, OU=Tests, CN=ca.example`, serial 00f1e2d3c4b5a69788.
    package static let named = der(
        """
        MIIB3TCCAYKgAwIBAgIJAPHi08S1ppeIMAoGCCqGSM49BAMCMEgxCzAJBgNVBAYTAkNIMRQwEgYDVQQKDAtFeGFtcGxlIEx0ZDEO
        MAwGA1UECwwFVGVzdHMxEzARBgNVBAMMCmNhLmV4YW1wbGUwIBcNMjYxMTIxMDYzNDMxWhgPMjEyNjEwMjgwNjM0MzFaMEgxCzAJ
        BgNVBAYTAkNIMRQwEgYDVQQKDAtFeGFtcGxlIEx0ZDEOMAwGA1UECwwFVGVzdHMxEzARBgNVBAMMCmNhLmV4YW1wbGUwWTATBgcq
        hkjOPQIBBggqhkjOPQMBBwNCAAQHty+FYZOMBwBzKNLRVkH08RNJz8CKJeWXKyTgyIEfSmqimS1zN5RGy/hTMRm4KL+xYrijoa1Q
        nw0DEFbrlU+Ko1MwUTAdBgNVHQ4EFgQUVQXAME0ctwWkeUG2lhqOwruvu1UwHwYDVR0jBBgwFoAUVQXAME0ctwWkeUG2lhqOwruv
        u1UwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNJADBGAiEAxw2F+UYySoidh8Cht8w3aw6Xm08MjSvyk88rQkFcdBQCIQD6
        T1ppjwcXeQ1nUJ7qcFflVOmZFrNUOrVxvYBZyqTPzw==
        """)

    /// Version 3, P-256, subject `C=CH, O=Example Ltd`, serial 7.
    package static let organization = der(
        """
        MIIBijCCATCgAwIBAgIBBzAKBggqhkjOPQQDAjAjMQswCQYDVQQGEwJDSDEUMBIGA1UECgwLRXhhbXBsZSBMdGQwIBcNMjYxMTIx
        MDYzNDMxWhgPMjEyNjEwMjgwNjM0MzFaMCMxCzAJBgNVBAYTAkNIMRQwEgYDVQQKDAtFeGFtcGxlIEx0ZDBZMBMGByqGSM49AgEG
        CCqGSM49AwEHA0IABFQpOUuPqiNR/wZ3yJgficBIn7YjtrDzJlGFyPOHN2CCppT7+9gernFV2PBJR41ECslRMD0NQYMcjSH6hti6
        EiKjUzBRMB0GA1UdDgQWBBQ9xJamqw6p/yyg7D38A2TXRca6gjAfBgNVHSMEGDAWgBQ9xJamqw6p/yyg7D38A2TXRca6gjAPBgNV
        HRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIG8tpAqDcSRPWizqKqn4CGi3ny/X2JR5EkMahP3cCxpOAiEA0xrRD04eeQ/k
        CvEqCheQE1G5mUC7qsZknUd+h6y0ZfQ=
        """)

    /// Version 3, Ed25519, subject `CN=Zürich` in UTF-8, serial 2.
    package static let umlaut = der(
        """
        MIIBJzCB2qADAgECAgECMAUGAytlcDASMRAwDgYDVQQDDAdaw7xyaWNoMCAXDTI2MTEyMTA2MzQzMVoYDzIxMjYxMDI4MDYzNDMx
        WjASMRAwDgYDVQQDDAdaw7xyaWNoMCowBQYDK2VwAyEAferRTcyresr2W7m0wHDZwKveKnvN018hQmQQkt5ZcGKjUzBRMB0GA1Ud
        DgQWBBSDgDAle1hxTCFY4Bw6XvqfGPeWETAfBgNVHSMEGDAWgBSDgDAle1hxTCFY4Bw6XvqfGPeWETAPBgNVHRMBAf8EBTADAQH/
        MAUGAytlcANBAJg8/vrWoxrQsWehTH91n7S0odN6h7rMvrDW8DpptA81ILMQDgN9qEKXa6y4wCmqvILUrWZq5gItNI/xWXCVCwQ=
        """)

    /// Version 1, Ed25519, subject `CN=version one`, serial 3, without extensions.
    package static let versionOne = der(
        """
        MIHVMIGIAgEDMAUGAytlcDAWMRQwEgYDVQQDDAt2ZXJzaW9uIG9uZTAgFw0yNjExMjEwNjM0MzFaGA8yMTI2MTAyODA2MzQzMVow
        FjEUMBIGA1UEAwwLdmVyc2lvbiBvbmUwKjAFBgMrZXADIQB96tFNzKt6yvZbubTAcNnAq94qe83TXyFCZBCS3llwYjAFBgMrZXAD
        QQBpd4HDhbycBBg5NgsCF+8jDSiUerVH0y/jNoDeTORTK4TIkIgroBfBWh1B8pF3/2o7vYghWputvGl/w3+gP9kF
        """)

    /// Version 3, P-256, without subject or issuer, serial 1.
    package static let nameless = der(
        """
        MIIBQjCB6KADAgECAgEBMAoGCCqGSM49BAMCMAAwHhcNMjYxMTIxMDYzNDMxWhcNMjYxMTIyMDYzNDMxWjAAMFkwEwYHKoZIzj0C
        AQYIKoZIzj0DAQcDQgAEGVMRN5DsgLlHR41Xe3WIN8vAX4gSAxKOlmf/RdTMUeRkE3FDHE8YQHNnuiLue+N8yvBhe0Gl7bPCPtBk
        gCJWIqNTMFEwHQYDVR0OBBYEFBxeucdLh1fl8HL/5BrSHP+CVi7JMB8GA1UdIwQYMBaAFBxeucdLh1fl8HL/5BrSHP+CVi7JMA8G
        A1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSQAwRgIhAKNtUQq+qQgyO9x6hxjDGUCDTceIs4ogKriWwQ4RkrdzAiEA1G46kAj5
        ALyb9aolPLjc8yTbcZQi+6OYYnH00dlu6Ws=
        """)

    /// Version 3, Ed25519, subject `CN=Žofie` in UTF-16, serial 5.
    package static let wide = der(
        """
        MIHTMIGGAgEFMAUGAytlcDAVMRMwEQYDVQQDHgoBfQBvAGYAaQBlMCAXDTI2MTEyMTA2MzkwN1oYDzIxMjYxMDI4MDYzOTA3WjAV
        MRMwEQYDVQQDHgoBfQBvAGYAaQBlMCowBQYDK2VwAyEAw6fIUhInhL+h1zfB9d/BkS7rMOTgl51sIt1Y4UZGkIwwBQYDK2VwA0EA
        +/2u9DmDop6mYyBJOiX7GSKP0bEnV1EG/whSBRCgdJa8V8vwb4psHec9X9Kypzb7qFxa4JbY7lKc1Hll9WCgBg==
        """)

    package static let all = [named, organization, umlaut, versionOne, nameless, wide]

    private static func der(_ base64: String) -> Data {
        Data(base64Encoded: base64, options: .ignoreUnknownCharacters)!
    }
}
