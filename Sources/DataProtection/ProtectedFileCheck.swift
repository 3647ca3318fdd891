/// What a complete check of a protected file has found.
public struct ProtectedFileCheck: Sendable {
    /// Something about the file that is not as its writer left it.
    public struct Finding: Sendable, Hashable {
        public enum Kind: String, Sendable, Hashable, CaseIterable {
            /// Neither copy of the header says how to open the file: all content is lost.
            case noHeader
            /// The copies of the header are of two files, or say two things under one number.
            case contradictingHeaders
            /// The newest header is damaged, or nothing that it refers to opens. The older one serves: the content is as
            /// it was before the last change.
            case newestHeader
            /// One copy of the header is damaged, and the other one serves.
            case headerCopy
            /// The end of the file is missing.
            case cutShort
            /// There is something behind the end of a file that was written whole.
            case extraBytes
            /// A node does not open, and with it nothing below.
            case node
            /// A chunk does not open.
            case chunk
            /// An entry cannot be meant: it leads out of the file, for instance.
            case entry
            /// A node has a form that no program writes, and is refused by readers.
            case nodeForm
            /// Two parts of the file have the same place.
            case place
            /// A node has entries for what is beyond the length of the content.
            case beyondLength
            /// The number of pages in the header is wrong. Of no consequence for readers.
            case pageCount
            /// A crash of the system has undone the last changes. This is no damage.
            case interrupted
            /// A change of class was cut short: the header of the former class is still there.
            case classChange
            /// What a crash of the system would go back to does not open any more.
            case formerState
        }

        public let kind: Kind
        /// The bytes of the content that are concerned; nil: none in particular.
        public let content: Range<UInt64>?
        /// Whether these bytes cannot be read by any means.
        public let losesContent: Bool
        /// What it is, for a person. Never holds content.
        public let text: String

        /// Whether the file is damaged, or was changed without its key. Otherwise it is worth knowing, and no more.
        public var isDamage: Bool {
            switch kind {
            case .pageCount, .interrupted, .classChange, .formerState: false
            default: true
            }
        }
    }

    /// nil: no header tells.
    public let protection: FileProtection?
    /// Of the content, in bytes; nil: no header tells.
    public let length: UInt64?
    /// In the order of the content, those about the whole file first.
    public let findings: [Finding]
    /// Whether ``ProtectedFiles/repairHeader(of:)`` can make both copies of the header whole again.
    public let canRepairHeader: Bool
    /// How many bytes of content could be read, holes included.
    public let readable: UInt64
    /// Whether ``ProtectedFiles/salvage(_:to:progress:)`` has written a file.
    public internal(set) var isSalvaged = false

    public var isIntact: Bool { !findings.contains(where: \.isDamage) }

    /// The bytes of content that cannot be read, in their order.
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
