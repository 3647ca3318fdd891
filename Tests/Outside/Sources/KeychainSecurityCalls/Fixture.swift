enum Fixture {
    /// Of the subject `C=CH, O=Example Ltd`, with the number 7. Made with OpenSSL; nobody keeps its private key.
    static let certificate = """
        MIIBijCCATCgAwIBAgIBBzAKBggqhkjOPQQDAjAjMQswCQYDVQQGEwJDSDEUMBIGA1UECgwLRXhhbXBsZSBMdGQwIBcNMjYxMTIx
        MDYzNDMxWhgPMjEyNjEwMjgwNjM0MzFaMCMxCzAJBgNVBAYTAkNIMRQwEgYDVQQKDAtFeGFtcGxlIEx0ZDBZMBMGByqGSM49AgEG
        CCqGSM49AwEHA0IABFQpOUuPqiNR/wZ3yJgficBIn7YjtrDzJlGFyPOHN2CCppT7+9gernFV2PBJR41ECslRMD0NQYMcjSH6hti6
        EiKjUzBRMB0GA1UdDgQWBBQ9xJamqw6p/yyg7D38A2TXRca6gjAfBgNVHSMEGDAWgBQ9xJamqw6p/yyg7D38A2TXRca6gjAPBgNV
        HRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIG8tpAqDcSRPWizqKqn4CGi3ny/X2JR5EkMahP3cCxpOAiEA0xrRD04eeQ/k
        CvEqCheQE1G5mUC7qsZknUd+h6y0ZfQ=
        """
}
