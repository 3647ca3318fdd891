internal import KeychainCrypto

extension FileTree {
    /// The bytes of content at a place and below it.
    func content(below place: NodePlace) -> Range<UInt64> {
        let chunks = UInt64(1) << (6 * UInt64(place.level))
        let start = clamped(place.index, chunks)
        return start..<max(start, clamped(place.index + 1, chunks))
    }

    /// The end of `count` times `chunks` chunks, or the end of the content if that comes first.
    private func clamped(_ count: UInt64, _ chunks: UInt64) -> UInt64 {
        let (first, isMore) = count.multipliedReportingOverflow(by: chunks)
        let (bytes, isFarMore) = first.multipliedReportingOverflow(by: chunkSize)
        return isMore || isFarMore ? length : min(length, bytes)
    }

    /// The places of the children of a node.
    func children(of place: NodePlace) -> [NodePlace] {
        let first = place.index * UInt64(FileFormat.fanOut)
        let end = min(first + UInt64(FileFormat.fanOut), count(atLevel: place.level - 1))
        return (first..<end).map { NodePlace(level: place.level - 1, index: $0) }
    }

    /// The number of nodes that have any of these chunks below them.
    func countOfNodes(above chunks: Range<UInt64>) -> Int {
        var (first, last) = (chunks.lowerBound, chunks.upperBound - 1)
        return (0..<depth).reduce(0) { count, _ in
            first /= UInt64(FileFormat.fanOut)
            last /= UInt64(FileFormat.fanOut)
            return count + Int(last - first) + 1
        }
    }
}
