public import FoundationEssentials
internal import Glibc

/// The reason why a call on a protected file failed, with the file's path and a text for a person.
///
/// ```swift
/// do {
///     return try files.read(from: url)
/// } catch DataProtectionError.locked {
///     return nil  // the file is there, and opens after the unlock
/// } catch where error.errno == ENOENT {
///     return Data()  // there is no such file
/// }
/// ```
///
/// After a failure the file holds what it held before the call. There are three exceptions:
///
/// - A write of more than 4 MiB through a ``ProtectedFileHandle`` may be done in part.
/// - A new file may have taken the old one's place when the disk refuses to make that durable. The code is `.system`
///   then, and a crash of the system may bring the old file back.
/// - A change of class, or a restore in place, may be done in one of the two copies of the header. The file opens, and
///   the call can be repeated.
public struct DataProtectionError: Error, Sendable {
    /// The kinds of failure, by which a program decides how to go on.
    ///
    /// The raw values are the names of the cases, for logs. A program that shows an error to a person shows
    /// ``message``.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The keychain is locked, and the key of the file's class is out of reach.
        ///
        /// The file is intact, and the call succeeds after the unlock. A program must not take this for a missing file
        /// and make a new one in its place.
        case locked
        /// The file belongs to another keychain, or the key of its class was destroyed.
        ///
        /// No unlock of this keychain opens the file. Ten wrong passcodes destroy keys if the passcode's policy says
        /// so, and a keybag from an old backup lacks the keys of newer files. ``ProtectedFiles/restore(_:with:)``
        /// brings a file of another keychain under this one.
        case wrongKey
        /// The passphrase does not open the backup key file. Only ``FileBackupKey`` throws this.
        case wrongPassphrase
        /// The stored bytes were changed without the file's key, or they are damaged.
        ///
        /// No byte that failed its check is given out. The cipher cannot tell an attack from a broken disk.
        case tampered
        /// The end of the file is missing. Readers refuse the whole file; ``ProtectedFiles/salvage(_:to:progress:)``
        /// saves the rest.
        case truncated
        /// The keychain that has the keys cannot be opened, or its daemon does not answer.
        ///
        /// An unlock does not help, and ``message`` says what does. A forked process gets this code for a file that its
        /// parent has opened.
        case keysUnavailable
        /// The file is a plain file, and the call needs a protected one. An empty file is a plain one.
        case notProtected
        /// A newer version of this library made the file. The program has to be updated to read it.
        case newerFormat
        /// An option is not defined, or two options contradict each other.
        ///
        /// The library never takes such an option for "no protection". A directory whose attribute names no class, and
        /// a passphrase that is empty, too long or not UTF-8, have this code too.
        case invalidOption
        /// The call does not work on this kind of file.
        ///
        /// It is a directory, device, pipe or socket, a file with several names (hard links), a file of another user,
        /// or a URL that names no file.
        case unsupportedFile
        /// Another program changed or replaced the file during the call, or has it open for writing.
        ///
        /// Nothing was changed by the call, which can be repeated when that program has ended.
        case changedMeanwhile
        /// The keychain refused for a reason that no other code names. ``status`` has Apple's number for it.
        case keychain
        /// The operating system refused. ``errno`` says which refusal it was, for instance `ENOENT` or `ENOSPC`.
        case system
    }

    /// The kind of failure. A program compares this, never ``message``, whose words may change.
    public let code: Code
    /// The path of the file that the failure is about.
    ///
    /// Some calls resolve links first; it is then the path that the link leads to. With a ``FileBackupKey`` it is the
    /// path of the key file. For a URL that names no file it is the text of the URL.
    public let path: String
    /// The cause and the remedy, in English, for a person. The text never holds content of the file.
    public let message: String
    /// The system's error number, as in errno(3).
    ///
    /// It is set for ``Code-swift.enum/system``, and for a directory where a file is needed (`EISDIR`). Otherwise it is
    /// `nil`.
    public let errno: Int32?
    /// Apple's `OSStatus` if the keychain refused, for instance −25308 for a locked keychain; otherwise `nil`.
    public let status: Int32?

    package init(_ code: Code, _ path: String, _ message: String, errno: Int32? = nil, status: Int32? = nil) {
        self.code = code
        self.path = path
        self.message = message
        self.errno = errno
        self.status = status
    }

    /// Makes an error of the code `.system`.
    ///
    /// - Parameter action: The attempt as a verb for the message, such as "read" or "write".
    package static func system(_ action: String, _ path: String, errno: Int32 = Glibc.errno) -> DataProtectionError {
        DataProtectionError(.system, path, "cannot \(action) it: \(String(cString: strerror(errno)))", errno: errno)
    }
}

extension DataProtectionError: CustomStringConvertible {
    /// The path and the message in one line, for a log.
    public var description: String { "\(path): \(message)" }
}

extension DataProtectionError: LocalizedError {
    /// The text of `localizedDescription`: the path and the message, in English.
    public var errorDescription: String? { description }
}
