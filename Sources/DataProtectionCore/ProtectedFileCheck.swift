/// The result of a complete check of a protected file: the findings, and how much of the content can be read.
///
/// ```swift
/// let check = try files.check(url)
/// for finding in check.findings where finding.isDamage { print(finding.text) }
/// if !check.isIntact {
///     let saved = try files.salvage(url, to: rescued)
///     print("\(saved.readable) bytes are saved, and \(saved.lost.count) parts are lost")
/// }
/// ```
public struct ProtectedFileCheck: Sendable {
    /// One thing about the file that is not as the program that wrote it left it.
    public struct Finding: Sendable, Hashable {
        /// The kinds of findings. The raw values are the names of the cases, which `keychainctl file fsck --json`
        /// prints.
        ///
        /// A *node* is a table in the file that says where parts of the content lie, and a *chunk* is a part of the
        /// content, usually 16 KiB. `docs/file-format.md` describes both.
        public enum Kind: String, Sendable, Hashable, CaseIterable {
            /// Neither copy of the header says how to open the file. All content is lost.
            case noHeader
            /// The two copies of the header belong to two files, or they have one sequence number and different
            /// content.
            case contradictingHeaders
            /// The newest header is damaged, or no part that it refers to opens.
            ///
            /// Readers use the older header, and the content is as it was before the last change.
            case newestHeader
            /// One copy of the header is damaged. Readers use the other one, and no content is lost.
            case headerCopy
            /// The end of the file is missing.
            case cutShort
            /// Bytes were added behind the end of a file that was written whole. Readers refuse the file.
            case extraBytes
            /// A node does not open. All content below it is lost with it, since nothing else says where that lies.
            case node
            /// A chunk does not open. Its content is lost.
            case chunk
            /// An entry of a node is impossible. It leads out of the file, for instance.
            case entry
            /// A node has a form that no program writes. Readers refuse it, and the salvage reads what it refers to.
            case nodeForm
            /// Two parts of the file claim one place on the disk.
            case place
            /// A node refers to content beyond the length of the file.
            case beyondLength
            /// The number of used pages in the header is wrong. Readers do not depend on it.
            case pageCount
            /// A crash of the system has undone the last changes. The file is as it was before them, and this is no
            /// damage.
            case interrupted
            /// A change of class was interrupted, and the header of the former class is still there.
            ///
            /// Setting the class again removes the former header.
            case classChange
            /// The state that a crash of the system would go back to does not open any more. The present state opens.
            case formerState
        }

        /// The kind of the finding, for programs.
        public let kind: Kind
        /// The bytes of the content that the finding is about, counted from 0.
        ///
        /// It is `nil` if the finding is about no particular part of the content.
        public let content: Range<UInt64>?
        /// Whether the bytes in ``content`` cannot be read by any means.
        public let losesContent: Bool
        /// The finding in English, for a person. The text never holds content of the file.
        public let text: String

        /// Whether the finding is damage, or a change by a program without the file's key.
        ///
        /// It is false for `pageCount`, `interrupted`, `classChange` and `formerState`, which are worth knowing and
        /// need no repair.
        public var isDamage: Bool {
            switch kind {
            case .pageCount, .interrupted, .classChange, .formerState: false
            default: true
            }
        }
    }

    /// The class of the file. It is `nil` if no header can be used.
    public let protection: FileProtection?
    /// The length of the content in bytes. It is `nil` if no header can be used.
    public let length: UInt64?
    /// All findings. Findings about the whole file come first, the others follow in the order of the content.
    public let findings: [Finding]
    /// Whether ``ProtectedFiles/repairHeader(of:)`` may make both copies of the header whole again.
    public let canRepairHeader: Bool
    /// The number of content bytes that can be read. Holes, which read as zeros, are counted.
    public let readable: UInt64
    /// Whether ``ProtectedFiles/salvage(_:to:progress:)`` has written a new file.
    public internal(set) var isSalvaged = false

    /// Whether no finding is damage. Findings that are merely worth knowing may be there.
    public var isIntact: Bool { !findings.contains(where: \.isDamage) }

    /// The bytes of content that cannot be read, in their order. Neighbouring ranges are joined.
    public var lost: [Range<UInt64>] {
        var ranges: [Range<UInt64>] = []
        for range in findings.filter(\.losesContent).compactMap(\.content) {
            if let last = ranges.last, last.upperBound == range.lowerBound {
                ranges[ranges.endIndex - 1] = last.lowerBound..<range.upperBound
            } else {
                ranges.append(range)
            }
        }
        return ranges
    }
}
