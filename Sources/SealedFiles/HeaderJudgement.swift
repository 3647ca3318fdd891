package import KeychainCrypto
internal import KeychainModel

/// The header of a file that counts, by the rules of docs/file-format.md ("Reading", "After a crash of the system").
///
/// Readers, checks, backups and restores all decide by this. It is made of claims and facts alone, reads no file and
/// needs no key. `Loss` describes content that does not open.
package enum HeaderJudgement<Loss> {
    /// The newest header counts. A crash of the system goes back to the base. Without a base the only header must not
    /// be written over.
    case counts(FileHeader, base: FileHeader?)
    /// The newest header counts and is durable. A program may have died before the disk had the header itself, and the
    /// other slot counts after a crash then. It has the same content.
    case unfinished(FileHeader)
    /// The newest header does not count. The file is as the base says, which was made durable.
    case retreat(FileHeader)
    /// The header that counts refers to bytes that are not there.
    case damaged(FileHeader, Damage)

    package enum Damage {
        case size(SizeFlaw)
        case lost(Loss)
    }

    /// Judges the headers of a file.
    ///
    /// - Parameters:
    ///   - former: An older header in the other slot. If the newest header is not durable, this one was verified.
    ///   - mark: The mark of the running system. `nil` means that it is not known, as without the file's key.
    ///   - size: The size that the file has.
    ///   - lost: Finds content of the newest header that does not open, among that with a higher write count than the
    ///     given one. It is called only if the disk may lack content.
    package init<E: Error>(
        newest: FileHeader, former: FileHeader?, mark: FileHeader.BootMark?, size: UInt64,
        lost: (UInt64) throws(E) -> Loss?
    ) throws(E) {
        var damage = newest.flaw(ofSize: size).map(Damage.size)
        if newest.isDurable || newest.bootMark == mark {
            if let damage {
                self = .damaged(newest, damage)
            } else if newest.mayBeUnforced(beside: former) {
                self = .unfinished(newest)
            } else {
                self = .counts(newest, base: newest.isDurable ? newest : former)
            }
            return
        }
        if damage == nil { damage = try lost(former?.writeCount ?? 0).map(Damage.lost) }
        guard let damage else {
            self = .counts(newest, base: former)
            return
        }
        guard var base = former else {
            self = .damaged(newest, damage)
            return
        }
        // The base was made durable, even if its header does not say so.
        base.bootMark = FileHeader.BootMark()
        // No two writes of a file have the same write count, and a write that was lost counts too.
        base.writeCount = max(base.writeCount, newest.writeCount)
        self = base.flaw(ofSize: size).map { .damaged(base, .size($0)) } ?? .retreat(base)
    }

    /// The header that is judged: the newest one, or the base if the newest one does not count.
    package var header: FileHeader {
        switch self {
        case .counts(let header, _), .unfinished(let header), .retreat(let header), .damaged(let header, _): header
        }
    }
}

/// A size of a file that contradicts its header.
package enum SizeFlaw: Sendable, Hashable {
    /// The number of bytes that the end of the file lacks.
    case missing(UInt64)
    /// The number of bytes behind the end of a file that was written whole.
    case added(UInt64)
}

extension FileHeader {
    /// The flaw of a file with this header that has a size. `nil` means that there is none.
    package func flaw(ofSize size: UInt64) -> SizeFlaw? {
        if size < storedSize { return .missing(storedSize - size) }
        return size > storedSize && !isChangedInPlace ? .added(size - storedSize) : nil
    }

    /// Whether a program may have died between writing this header and forcing it to the disk: it is durable, and the
    /// other slot has an older header with the same content.
    fileprivate func mayBeUnforced(beside former: FileHeader?) -> Bool {
        guard let former, isDurable else { return false }
        return former.root == root && former.length == length
    }
}

extension FileHeaderPair {
    /// Whether the newest header may not be on the disk although it is durable.
    var mayBeUnforced: Bool { newest.claimed.mayBeUnforced(beside: former?.claimed) }

    /// Whether a program may have died while it brought the file under another keychain. One slot has the new wrapping
    /// of the key, and the other one has the old wrapping or is broken.
    package var mayBeHalfAdopted: Bool {
        guard newest.claimed.isDurable else { return false }
        return !areBothWhole || former.map { $0.claimed.key.storeID != newest.claimed.key.storeID } ?? false
    }
}

extension DataProtectionError {
    /// The error with which a reader refuses a damaged file.
    package init(_ damage: HeaderJudgement<DataProtectionError>.Damage, _ path: String) {
        switch damage {
        case .size(.missing(let count)):
            self.init(.truncated, path, "\(count) bytes of the file are missing at its end")
        case .size(.added): self.init(.tampered, path, "bytes were added at the end of the file")
        case .lost(let error): self = error
        }
    }
}
