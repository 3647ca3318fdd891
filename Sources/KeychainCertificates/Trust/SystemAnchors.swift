internal import FoundationEssentials
internal import Glibc
internal import KeychainKeys
internal import KeychainSystem
internal import Synchronization

/// The roots that the system's administrator trusts, as OpenSSL finds them.
///
/// `SSL_CERT_FILE` names a file and `SSL_CERT_DIR` directories. Without them the first file that is there counts, of those where distributions
/// have it. The files are read when they are first needed, and again once one of them has changed.
package final class SystemAnchors: Sendable {
    package static let shared = SystemAnchors()

    private let variable: @Sendable (String) -> String?
    private let files: [String]
    private let state = Mutex<(files: [FileState], index: CertificateIndex)?>(nil)

    /// Debian, Arch; Fedora; SUSE; Alpine.
    package static let usualFiles = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem",
    ]

    /// - Parameters:
    ///   - variable: Gives a variable of the environment.
    ///   - files: The first one that is there counts.
    package init(
        variable: @escaping @Sendable (String) -> String? = SystemAnchors.environment,
        files: [String] = SystemAnchors.usualFiles
    ) {
        (self.variable, self.files) = (variable, files)
    }

    /// A program with rights that its user lacks heeds no variables.
    package static let environment: @Sendable (String) -> String? = { name in
        ckeychain_is_secure_execution() == 0 ? getenv(name).map { String(cString: $0) } : nil
    }

    /// Without any file no certificate is trusted.
    package var index: CertificateIndex {
        state.withLock { state in
            let files = sources.map(FileState.init)
            if let state, state.files == files { return state.index }
            let index = CertificateIndex(files.filter(\.isRegular).flatMap { Self.certificates(in: $0.path) })
            state = (files, index)
            return index
        }
    }

    /// The files that are read.
    package var sources: [String] {
        let (file, directories) = (variable("SSL_CERT_FILE"), variable("SSL_CERT_DIR"))
        guard file != nil || directories != nil else {
            return files.first { FilePath.permits($0, R_OK) }.map { [$0] } ?? []
        }
        let names = (directories ?? "").split(separator: ":").map(String.init)
        return (file.map { [$0] } ?? []) + names.flatMap(Self.files)
    }

    private static func files(inDirectory path: String) -> [String] {
        // A directory that is not there has no certificates.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.sorted().map { "\(path)/\($0)" }
    }

    private static let mostBytes = 64 << 20

    /// A file of anything else has no certificates, and a certificate that cannot be read is no anchor.
    private static func certificates(in path: String) -> [X509Certificate] {
        var status = stat()
        guard stat(path, &status) == 0, status.st_size <= mostBytes,
            let bytes = try? Data(contentsOf: URL(fileURLWithPath: path))
        else { return [] }
        // OpenSSL's form "TRUSTED CERTIFICATE" may say that the certificate is not trusted.
        let blocks = PEMBlock.readable(["CERTIFICATE", "X509 CERTIFICATE"], in: Array(bytes))
        let encodings = blocks.isEmpty ? [bytes] : blocks.map { Data($0.bytes) }
        return encodings.compactMap { try? X509Certificate($0) }
    }
}

/// The marks by which a file is told from a former file at the same path.
private struct FileState: Equatable {
    let path: String
    /// A pipe would keep its reader waiting, and so may a file of the kernel's, which has no size.
    let isRegular: Bool
    private let numbers: [Int]

    init(_ path: String) {
        self.path = path
        var state = stat()
        // A file that is not there has no numbers.
        let isThere = stat(path, &state) == 0
        isRegular = isThere && state.st_mode & S_IFMT == S_IFREG && state.st_size > 0
        numbers =
            isThere
            ? [
                Int(bitPattern: UInt(state.st_dev)), Int(bitPattern: UInt(state.st_ino)), Int(state.st_size),
                state.st_mtim.tv_sec, state.st_mtim.tv_nsec, state.st_ctim.tv_sec, state.st_ctim.tv_nsec,
            ] : []
    }
}
