internal import DataProtectionCore
internal import Glibc

/// An error that a program gets from the kernel: a number of errno(3).
struct Refusal: Error, Equatable {
    let number: Int32

    init(_ number: Int32) { self.number = number }

    static func require(_ number: Int32) throws(Refusal) {
        guard number == 0 else { throw Refusal(number) }
    }

    /// Refuses after a call of the C library that returned −1.
    static func ofSystem() -> Refusal { Refusal(errno) }

    /// A locked file, one of another keychain and a damaged one are told apart.
    init(_ error: DataProtectionError) {
        number =
            switch error.code {
            case .locked: EACCES
            case .wrongKey, .keysUnavailable: ENOKEY
            case .tampered, .truncated: EIO
            case .newerFormat: EOPNOTSUPP
            case .notProtected: EPERM
            // Another program has the file locked.
            default: error.errno == ETIMEDOUT ? EBUSY : error.errno ?? EIO
            }
    }
}

/// Runs a call on a protected file.
func refusing<R>(_ body: () throws(DataProtectionError) -> R) throws(Refusal) -> R {
    do throws(DataProtectionError) { return try body() } catch { throw Refusal(error) }
}
