internal import Glibc
internal import KeychainCrypto
internal import KeychainModel
internal import SealedFiles

/// Turns the results of a check into findings with a text.
struct CheckReport {
    private typealias Kind = ProtectedFileCheck.Finding.Kind

    private let copies: HeaderCopies
    /// The findings about the whole file.
    private var findings: [ProtectedFileCheck.Finding] = []
    private var hasContradiction = false

    init(_ copies: HeaderCopies) {
        self.copies = copies
        guard !copies.verified.isEmpty else { return }
        for (number, copy) in copies.copies.enumerated() {
            switch copy {
            case .verified: break
            case .broken: addBroken(number, "is not whole")
            case .refused(let reason): addBroken(number, "cannot be believed (\(reason))")
            case .newerFormat(let version): addBroken(number, "has format \(version), which this program does not know")
            }
        }
    }

    private mutating func addBroken(_ number: Int, _ reason: String) {
        let name = number == 0 ? "first" : "second"
        let isChanged = copies.verified.contains { $0.header.isChangedInPlace }
        let meaning =
            isChanged
            ? "The other one serves. If this was the newer one, the content is as it was before the last change"
            : "The other one serves, and nothing is lost"
        add(isChanged ? .newestHeader : .headerCopy, "the \(name) copy of the header \(reason). \(meaning)")
    }

    private mutating func add(_ kind: Kind, _ text: String) { findings.append(Self.ofFile(kind, text)) }

    private static func ofFile(_ kind: Kind, _ text: String, losesContent: Bool = false) -> ProtectedFileCheck.Finding {
        ProtectedFileCheck.Finding(kind: kind, content: nil, losesContent: losesContent, text: text)
    }

    // MARK: Headers

    mutating func add(contradiction isForeign: Bool) {
        hasContradiction = true
        add(
            .contradictingHeaders,
            isForeign
                ? "the copies of the header are of two files. What follows is about the one of which more is here"
                : "the copies of the header have one number and say two things. What follows is about the one of which "
                    + "more is here")
    }

    mutating func addInterruption() {
        add(
            .interrupted,
            "a crash of the system has undone the last changes, which the disk had not got yet. The file is as it was "
                + "before them")
    }

    mutating func addUselessNewest() {
        add(
            .newestHeader,
            "nothing that the newest header refers to opens. The older one serves: the content is as it was before the "
                + "last change")
    }

    mutating func add(formerState flaws: [Flaw]) {
        add(
            .formerState,
            "what a crash of the system would go back to does not open: \(flaws.count) part\(flaws.count == 1 ? "" : "s") "
                + "of it. The file as it is now is on no disk for certain")
    }

    mutating func addIfUnfinished(_ newest: FileHeader, _ other: FileHeader) {
        guard !hasContradiction, newest.key.fileClass != other.key.fileClass else { return }
        add(
            .classChange,
            "a change of class was cut short: the header of the former class is still there beside the new one")
    }

    // MARK: The whole file

    mutating func add(size: UInt64, of header: FileHeader) {
        switch header.flaw(ofSize: size) {
        case .missing(let count): add(.cutShort, "\(count) bytes are missing at its end: readers refuse the whole file")
        case .added(let count):
            add(.extraBytes, "\(count) bytes were added behind its end: readers refuse the whole file")
        case nil: break
        }
    }

    // MARK: The result

    var resultWithoutHeader: ProtectedFileCheck {
        let finding = Self.ofFile(
            .noHeader,
            "neither copy of the header can be used, and nothing else says how to open the content: all of it is lost",
            losesContent: true)
        return ProtectedFileCheck(
            protection: nil, length: nil, findings: [finding], canRepairHeader: false, readable: 0)
    }

    func result(_ check: SealedFileCheck) -> ProtectedFileCheck {
        var all = findings
        let flaws = check.flaws.sorted { ($0.content?.lowerBound ?? 0) < ($1.content?.lowerBound ?? 0) }
        all += flaws.map(Self.finding)
        if flaws.isEmpty, check.usedPages != check.header.usedPages {
            all.append(
                Self.ofFile(
                    .pageCount,
                    "the header counts \(check.header.usedPages) pages in use, and there are \(check.usedPages)"))
        }
        return ProtectedFileCheck(
            protection: FileProtection(check.header.fileClass), length: check.header.length, findings: all,
            canRepairHeader: copies.repairable != nil, readable: check.readable)
    }

    private static func finding(_ flaw: Flaw) -> ProtectedFileCheck.Finding {
        let (kind, reason) = words(flaw.kind)
        let text =
            flaw.content.map { range in
                "bytes \(range.lowerBound) to \(range.upperBound - 1)"
                    + (flaw.losesContent ? " do not open: " : " are read, but: ") + reason
            } ?? reason
        return ProtectedFileCheck.Finding(
            kind: kind, content: flaw.content, losesContent: flaw.losesContent, text: text)
    }

    private static func words(_ flaw: Flaw.Kind) -> (Kind, String) {
        let table = "the table that says where they lie"
        switch flaw {
        case .lost(.entry, _): return (.entry, "where they lie contradicts the header")
        case .lost(.unreadable(let number), let isNode):
            let what = isNode ? table : "them"
            return (isNode ? .node : .chunk, "the disk does not read \(what): \(String(cString: strerror(number)))")
        case .lost(.missing, let isNode):
            let what = isNode ? "\(table) is" : "they are"
            return (isNode ? .node : .chunk, "\(what) beyond the end of the file, which is missing")
        case .lost(.changed, let isNode):
            let what = isNode ? "\(table) was" : "they were"
            return (isNode ? .node : .chunk, "\(what) changed by something without the key, or damaged")
        case .zeros(let isNode):
            return (isNode ? .node : .chunk, "\(isNode ? "\(table) was" : "they were") overwritten by zeros")
        case .entry: return (.entry, "where they lie is written in a way that is not defined")
        case .nodeForm: return (.nodeForm, "a table of them has a form that no program writes")
        case .beyondLength: return (.beyondLength, "a table refers to content beyond the file's length")
        case .place: return (.place, "the place of another part of the file is also theirs")
        }
    }
}
