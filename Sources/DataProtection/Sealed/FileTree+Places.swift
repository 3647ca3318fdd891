internal import KeychainCrypto

extension FileTree {
    /// The bytes of content that are at a place or below it.
    func content(below place: NodePlace) -> Range<UInt64> {
        let chunks = UInt64(1) << (6 * UInt64(place.level))
        let start = clamped(place.index, chunks)
        return start..<max(start, clamped(place.index + 1, chunks))
    }

    /// Where so many times so many chunks end, and never behind the content.
    private func clamped(_ count: UInt64, _ chunks: UInt64) -> UInt64 {
        let (first, isMore) = count.multipliedReportingOverflow(by: chunks)
        let (bytes, isFarMore) = first.multipliedReportingOverflow(by: chunkSize)
        return isMore || isFarMore ? length : min(length, bytes)
    }

    /// The places that the entries of a node are for.
    func children(of place: NodePlace) -> [NodePlace] {
        let first = place.index * UInt64(FileFormat.fanOut)
        let end = min(first + UInt64(FileFormat.fanOut), count(atLevel: place.level - 1))
        return (first..<end).map { NodePlace(level: place.level - 1, index: $0) }
    }

    /// How many nodes have any of these chunks below them.
    func countOfNodes(above chunks: Range<UInt64>) -> Int {
        var (first, last) = (chunks.lowerBound, chunks.upperBound - 1)
        return (0..<depth).reduce(0) { count, _ in
            first /= UInt64(FileFormat.fanOut)
            last /= UInt64(FileFormat.fanOut)
            return count + Int(last - first) + 1
        }
    }
}
