internal import DataProtection
internal import KeychainTestSupport

/// Draws operations, near the places where something begins or ends.
package struct OperationSource {
    private var generator: SeededGenerator
    private let chunk: UInt64
    /// As it probably is.
    private var length: UInt64 = 0
    private var unsyncedCount = 0
    private var isLocked = false
    private var mayBeFar: Bool

    package init(seed: UInt64, chunkBits: UInt8) {
        generator = SeededGenerator(seed: seed)
        chunk = 1 << UInt64(chunkBits)
        mayBeFar = generator.below(3) == 0
    }

    /// What one node of the lowest level has below it.
    private var span: UInt64 { chunk * 64 }
    private static let far: UInt64 = 64 << 30
    /// Of content that is not far away.
    private var most: UInt64 { span + 8 * chunk }

    package mutating func next() -> FileOperation {
        // What has to be possible after a power cut is kept until the next sync.
        if unsyncedCount > 40 { return noting(.sync(generator.below(2))) }
        if isLocked && generator.below(8) == 0 { return noting(.unlock) }
        switch generator.below(200) {
        case 0: return noting(.lock)
        case 1..<4: return noting(.powerCut(plain(), call: generator.below(8), seed: generator.next()))
        case 4: return noting(.kill(plain(), call: generator.below(8)))
        case 5..<8: return .full(change(), call: generator.below(5))
        default: return noting(plain())
        }
    }

    /// One to which nothing happens meanwhile.
    package mutating func nextUndisturbed() -> FileOperation { noting(plain()) }

    private mutating func noting(_ operation: FileOperation) -> FileOperation {
        switch operation {
        case .write(_, let offset, let count, _): length = max(length, offset + UInt64(count))
        case .append(_, let count, _): length += UInt64(count)
        case .truncate(_, let new): length = new
        case .replace(let count, _, _): length = UInt64(count)
        case .lock: isLocked = true
        case .unlock, .kill, .powerCut: isLocked = false
        default: break
        }
        switch operation {
        case .write, .append, .truncate, .punch: unsyncedCount += 1
        case .sync, .close, .replace, .powerCut: unsyncedCount = 0
        default: break
        }
        return operation
    }

    private mutating func plain() -> FileOperation {
        switch generator.below(100) {
        case 0..<20: return .read(generator.below(3), at: place(), count: count())
        case 20..<34: return .sync(generator.below(12) == 0 ? 2 : generator.below(2))
        case 34..<36: return .setProtection(generator.below(2), protection())
        case 36..<39: return .close(generator.below(3))
        case 39..<42: return .abandon(generator.below(3))
        case 42: return .replace(count: count(), protection(), seed: generator.next() % 1000)
        default: return change()
        }
    }

    private mutating func change() -> FileOperation {
        let handle = generator.below(3) == 0 ? 1 : 0
        switch generator.below(100) {
        case 0..<15: return .append(handle, count: count(), seed: generator.next() % 1000)
        case 15..<27: return .truncate(handle, to: newLength())
        case 27..<37:
            let (one, other) = (place(), place())
            return .punch(handle, min(one, other)..<(max(one, other) + 1))
        default: return .write(handle, at: place(), count: count(), seed: generator.next() % 1000)
        }
    }

    private mutating func protection() -> FileProtection {
        FileProtection.allCases[generator.below(FileProtection.allCases.count)]
    }

    /// At, before or behind a place where something begins.
    private mutating func place() -> UInt64 {
        let base: UInt64 =
            switch generator.below(mayBeFar ? 11 : 10) {
            case 0: 0
            case 1: length
            case 2, 3: UInt64(generator.below(Int(span / chunk) + 4)) * chunk
            case 4: UInt64(generator.below(12)) * 4096
            case 5: span
            case 6: min(length, most) / 2
            case 10: Self.far + UInt64(generator.below(3)) * chunk
            default: UInt64(generator.below(Int(min(length, most)) + 1))
            }
        return nudged(base)
    }

    private mutating func nudged(_ place: UInt64) -> UInt64 {
        switch generator.below(5) {
        case 0: place + 1
        case 1: place == 0 ? 0 : place - 1
        default: place
        }
    }

    private mutating func newLength() -> UInt64 {
        // Not longer and longer.
        let length = generator.below(3) == 0 ? UInt64(generator.below(Int(4 * chunk))) : place()
        return length > most && generator.below(2) == 0 ? most : length
    }

    private mutating func count() -> Int {
        let base =
            switch generator.below(40) {
            case 0..<16: 1 + generator.below(300)
            case 16..<22: Int(chunk)
            case 22..<25: 4096
            case 25..<30: 1 + generator.below(Int(chunk) * 2)
            case 30..<38: 1 + generator.below(5000)
            case 38: Int(chunk) * (1 + generator.below(6))
            default: generator.below(6) == 0 ? Int(span) : Int(chunk) * 3
            }
        return max(1, Int(nudged(UInt64(base))))
    }
}
