package import DataProtection
package import Foundation
internal import KeychainTestSupport

/// The bytes that a file should have: an array, of which parts that were never written take no memory.
package struct SparseContent: Sendable {
    static let blockSize = 4096

    package private(set) var length: UInt64 = 0
    /// By their place in units of ``blockSize``, all of that many bytes; the others are zeros.
    private var blocks: [UInt64: [UInt8]] = [:]
    /// Where there was ever something, also if there are zeros now: an older content may have it.
    private var touched: Set<UInt64> = []

    package init() {}

    package init(_ data: Data) {
        write(data, at: 0)
    }

    package mutating func write(_ data: Data, at offset: UInt64) {
        if data.isEmpty { return }
        length = max(length, offset + UInt64(data.count))
        data.withUnsafeBytes { bytes in
            forEachPart(offset..<(offset + UInt64(data.count))) { index, part, start in
                touched.insert(index)
                blocks[index, default: Self.zeros].withUnsafeMutableBytes { block in
                    UnsafeMutableRawBufferPointer(rebasing: block[part]).copyMemory(
                        from: UnsafeRawBufferPointer(rebasing: bytes[start..<(start + part.count)]))
                }
            }
        }
    }

    package mutating func punch(_ range: Range<UInt64>) {
        let range = range.clamped(to: 0..<length)
        // There may be far more places in it than blocks.
        for (index, block) in blocks {
            let start = index * UInt64(Self.blockSize)
            let part = range.clamped(to: start..<(start + UInt64(Self.blockSize)))
            guard !part.isEmpty else { continue }
            if part.count == Self.blockSize {
                blocks[index] = nil
            } else {
                var block = block
                block.replaceSubrange(
                    Int(part.lowerBound - start)..<Int(part.upperBound - start),
                    with: repeatElement(0, count: part.count))
                blocks[index] = block
            }
        }
    }

    package mutating func truncate(to length: UInt64) {
        if length < self.length { punch(length..<self.length) }
        self.length = length
    }

    private static let zeros = [UInt8](repeating: 0, count: blockSize)

    private func forEachPart(_ range: Range<UInt64>, _ body: (UInt64, Range<Int>, Int) -> Void) {
        let size = UInt64(Self.blockSize)
        var place = range.lowerBound
        while place < range.upperBound {
            let end = min((place / size + 1) * size, range.upperBound)
            let start = Int(place % size)
            body(place / size, start..<(start + Int(end - place)), Int(place - range.lowerBound))
            place = end
        }
    }

    /// Whether these are the bytes from a place on.
    package func has(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Bool {
        guard offset <= length, UInt64(bytes.count) <= length - offset else { return false }
        var isSame = true
        forEachPart(offset..<(offset + UInt64(bytes.count))) { index, part, start in
            (blocks[index] ?? Self.zeros).withUnsafeBytes { block in
                isSame =
                    isSame && memcmp(block.baseAddress! + part.lowerBound, bytes.baseAddress! + start, part.count) == 0
            }
        }
        return isSame
    }

    /// Whether a read of at most so many bytes gives these.
    package func gives(_ bytes: UnsafeRawBufferPointer, at offset: UInt64, ofAtMost count: Int) -> Bool {
        let place = min(offset, length)
        return UInt64(bytes.count) == min(UInt64(count), length - place) && has(bytes, at: place)
    }

    /// What has to be read to tell this from what it was before, with some of the zeros around it.
    package var regions: [Range<UInt64>] {
        if length <= 4 << 20 { return length == 0 ? [] : [0..<length] }
        let size = UInt64(Self.blockSize)
        var regions: [Range<UInt64>] = []
        // What lies in the middle of nowhere, too.
        for index in touched.union([0, length / size, length / size / 2]).sorted() {
            let start = index > 4 ? (index - 4) * size : 0
            let end = min((index + 5) * size, length)
            if start >= end { continue }
            if let last = regions.last, last.upperBound >= start {
                regions[regions.count - 1] = last.lowerBound..<max(last.upperBound, end)
            } else {
                regions.append(start..<end)
            }
        }
        return regions
    }
}

extension ProtectedFileHandle {
    /// Whether the whole content is this one.
    package func has(
        _ content: SparseContent, in memory: UnsafeMutableRawBufferPointer
    ) throws(DataProtectionError) -> Bool {
        guard try length == content.length else { return false }
        for region in content.regions {
            var offset = region.lowerBound
            while offset < region.upperBound {
                let count = Int(min(UInt64(memory.count), region.upperBound - offset))
                let target = UnsafeMutableRawBufferPointer(rebasing: memory[..<count])
                guard try read(at: offset, into: target) == count,
                    content.has(UnsafeRawBufferPointer(target), at: offset)
                else { return false }
                offset += UInt64(count)
            }
        }
        return true
    }
}

/// Bytes for a seed, which cost nothing to make.
package enum SampleBytes {
    private static let stock: Data = {
        var generator = SeededGenerator(seed: 1)
        var data = Data(count: (1 << 20) + 4096)
        data.withUnsafeMutableBytes { bytes in
            for index in 0..<(bytes.count / 8) {
                // No zeros, which are what holes have.
                bytes.storeBytes(of: generator.next() | 0x0101_0101_0101_0101, toByteOffset: index * 8, as: UInt64.self)
            }
        }
        return data
    }()

    package static func of(_ count: Int, seed: UInt64) -> Data {
        var generator = SeededGenerator(seed: seed)
        var data = Data(capacity: count)
        while data.count < count {
            let start = Int(generator.next() % UInt64(stock.count / 2))
            data += stock[start..<min(stock.count, start + count - data.count)]
        }
        return data
    }
}
