import Foundation
import KeychainModel
import Testing

@testable import DataProtectionCore
@testable import KeychainCrypto
@testable import SealedFiles

/// Which header counts, for every combination of facts that docs/file-format.md tells apart.
@Suite struct HeaderJudgementTests {
    private static let mark = FileHeader.BootMark(pattern: 7)
    private static let otherMark = FileHeader.BootMark(pattern: 8)

    /// What the newest header says of the disk.
    enum Newest: CaseIterable { case durable, ours, foreign }
    /// What the other slot has.
    enum Former: CaseIterable { case none, other, same }
    enum Size: CaseIterable { case exact, cut, cutForBoth, longer }

    struct Facts: Sendable, CustomStringConvertible {
        let newest: Newest
        let former: Former
        let size: Size
        let isChangedInPlace: Bool
        let opens: Bool
        let knowsMark: Bool
        var isUncertain: Bool { newest == .foreign || newest == .ours && !knowsMark }
        var description: String { "\(newest) \(former) \(size) \(isChangedInPlace) \(opens) \(knowsMark)" }
    }

    enum Outcome: Equatable { case counts, countsWithoutBase, unfinished, retreat, missing, added, lost }

    private static func header(_ sequence: UInt64, _ mark: FileHeader.BootMark, isChangedInPlace: Bool) -> FileHeader {
        let key = WrappedFileKey(
            fileID: UUID(), storeID: UUID(), fileClass: .complete, generation: 1, publicKey: Data(),
            wrappedKey: Data(count: 40))
        return FileHeader(
            key: key, isChangedInPlace: isChangedInPlace, sequence: sequence, length: sequence * 100,
            storedSize: sequence * 8192, writeCount: sequence * 10, root: nil, bootMark: mark, usedPages: 1)
    }

    /// The rules in words, one line each, the first one that fits.
    private static func expected(_ facts: Facts) -> Outcome {
        let isFormer = facts.former != .none
        let isCut = facts.size == .cut || facts.size == .cutForBoth
        let isLonger = facts.size == .longer && !facts.isChangedInPlace
        let isCertain = facts.newest == .durable || facts.newest == .ours && facts.knowsMark
        if isCertain && isCut { return .missing }
        if isCertain && isLonger { return .added }
        if facts.newest == .durable { return facts.former == .same ? .unfinished : .counts }
        if isCertain { return isFormer ? .counts : .countsWithoutBase }
        let isSound = !isCut && !isLonger && facts.opens
        if isSound { return isFormer ? .counts : .countsWithoutBase }
        if !isFormer { return isCut ? .missing : isLonger ? .added : .lost }
        // The base is shorter than the newest header, and a file of the newest one's size has bytes behind it.
        if facts.size == .cutForBoth { return .missing }
        return facts.isChangedInPlace ? .retreat : .added
    }

    private static let all: [Facts] = Newest.allCases.flatMap { newest in
        Former.allCases.flatMap { former in
            Size.allCases.flatMap { size in
                [false, true].flatMap { isChanged in
                    [false, true].flatMap { opens in
                        [false, true].map { knowsMark in
                            Facts(
                                newest: newest, former: former, size: size, isChangedInPlace: isChanged, opens: opens,
                                knowsMark: knowsMark)
                        }
                    }
                }
            }
        }
    }

    @Test("Every combination of marks, slots, sizes and content has one judgement")
    func table() throws {
        #expect(Self.all.count == 288)
        for facts in Self.all {
            let mark =
                switch facts.newest {
                case .durable: FileHeader.BootMark()
                case .ours: Self.mark
                case .foreign: Self.otherMark
                }
            let newest = Self.header(3, mark, isChangedInPlace: facts.isChangedInPlace)
            var former = Self.header(2, Self.otherMark, isChangedInPlace: facts.isChangedInPlace)
            if facts.former == .same { former.length = newest.length }
            let size: UInt64 =
                switch facts.size {
                case .exact: newest.storedSize
                case .cut: newest.storedSize - 1
                case .cutForBoth: former.storedSize - 1
                case .longer: newest.storedSize + 1
                }
            var askedSince: UInt64?
            let judgement = HeaderJudgement<String>(
                newest: newest, former: facts.former == .none ? nil : former, mark: facts.knowsMark ? Self.mark : nil,
                size: size
            ) { writeCount in
                askedSince = writeCount
                return facts.opens ? nil : "a chunk"
            }
            let isOld = judgement.header.sequence == 2
            let outcome: Outcome
            switch judgement {
            case .counts(let header, let base):
                outcome = base == nil ? .countsWithoutBase : .counts
                #expect(header == newest, "\(facts)")
                #expect(base == nil || base == (newest.isDurable ? newest : former), "\(facts)")
            case .unfinished(let header):
                outcome = .unfinished
                #expect(header == newest, "\(facts)")
            case .retreat(let base):
                outcome = .retreat
                #expect(isOld && base.isDurable && base.writeCount == newest.writeCount, "\(facts)")
            case .damaged(_, .size(.missing(let count))):
                outcome = .missing
                // The base is judged only if the newest header is unsound and another start has written it.
                let mayGoBack = facts.former != .none && facts.isUncertain
                #expect(isOld == mayGoBack && count == (isOld ? former : newest).storedSize - size, "\(facts)")
            case .damaged(_, .size(.added(let count))):
                outcome = .added
                let mayGoBack = facts.former != .none && facts.isUncertain
                #expect(isOld == mayGoBack && count == size - (isOld ? former : newest).storedSize, "\(facts)")
            case .damaged(_, .lost(let what)):
                outcome = .lost
                #expect(what == "a chunk" && !isOld, "\(facts)")
            }
            #expect(outcome == Self.expected(facts), "\(facts)")
            // Content is looked through only where the disk may lack some, and only what the base does not have.
            #expect(askedSince == nil || askedSince == (facts.former == .none ? 0 : former.writeCount), "\(facts)")
            #expect(askedSince == nil || !newest.isDurable && !(facts.newest == .ours && facts.knowsMark), "\(facts)")
        }
    }

    @Test("The next header never goes over the base, and counts on from the highest number")
    func slots() throws {
        let fileKey = try KeyMaterial { $0.copyBytes(from: [UInt8](repeating: 5, count: 32)) }
        for slot in [0, 1] {
            let newest = Self.header(3, Self.mark, isChangedInPlace: true)
            let former = Self.header(2, FileHeader.BootMark(), isChangedInPlace: true)
            var page = Data(count: FileFormat.headerByteCount)
            for (header, number) in [(newest, slot), (former, 1 - slot)] {
                let bytes = header.encoded(fileKey: fileKey, slot: number)
                let start = FileFormat.slotOffsets[number]
                page.replaceSubrange(start..<(start + bytes.count), with: bytes)
            }
            let pair = try FileHeader.inFirstPage(page)
            func expect(_ judgement: HeaderJudgement<DataProtectionError>, in own: Int, next: Int) throws {
                let version = try FileVersion(judgement, of: pair, Self.mark, page, "file")
                #expect(version.slot == own && version.nextSlot == next && version.highestSequence == 3)
            }
            var durable = newest
            durable.bootMark = FileHeader.BootMark()
            try expect(.counts(durable, base: durable), in: slot, next: 1 - slot)
            try expect(.unfinished(durable), in: slot, next: 1 - slot)
            try expect(.counts(newest, base: former), in: slot, next: slot)
            try expect(.counts(newest, base: nil), in: slot, next: slot)
            try expect(.retreat(former), in: 1 - slot, next: slot)
        }
    }
}

extension InlineBytes {
    fileprivate init(pattern: UInt8) {
        self = Data(repeating: pattern, count: 16).withUnsafeBytes { InlineBytes($0) }
    }
}
