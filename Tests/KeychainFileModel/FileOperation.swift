package import DataProtection
package import Foundation

/// One step of a run of the model. Handles have numbers: 0 and 1 are for writing, each under a connection of its own, 2 is
/// for reading. One that is closed is opened by its next use.
package indirect enum FileOperation: Sendable, Equatable {
    case read(Int, at: UInt64, count: Int)
    case write(Int, at: UInt64, count: Int, seed: UInt64)
    case append(Int, count: Int, seed: UInt64)
    case truncate(Int, to: UInt64)
    case punch(Int, Range<UInt64>)
    case sync(Int)
    case setProtection(Int, FileProtection)
    case close(Int)
    /// Without waiting for the disk.
    case abandon(Int)
    /// Another whole file takes the name.
    case replace(count: Int, FileProtection, seed: UInt64)
    case lock
    case unlock
    /// The disk refuses one call for want of space.
    case full(FileOperation, call: Int)
    /// The program dies during an operation, after some calls, or right after it.
    case kill(FileOperation, call: Int)
    /// The power fails then.
    case powerCut(FileOperation, call: Int, seed: UInt64)
}

extension FileOperation {
    /// What it writes.
    package var data: Data? {
        switch self {
        case .write(_, _, let count, let seed), .append(_, let count, let seed), .replace(let count, _, let seed):
            SampleBytes.of(count, seed: seed)
        default: nil
        }
    }

    /// Makes of a file's content what it is afterwards.
    package func apply(to content: inout SparseContent) {
        let data = data ?? Data()
        switch self {
        case .write(_, let offset, _, _): content.write(data, at: offset)
        case .append: content.write(data, at: content.length)
        case .truncate(_, let length): content.truncate(to: length)
        case .punch(_, let range): content.punch(range)
        case .replace: content = SparseContent(data)
        default: break
        }
    }

    /// Does what changes a part of an open file.
    ///
    /// - Returns: the place of what was appended.
    package func change(_ handle: ProtectedFileHandle) throws(DataProtectionError) -> UInt64? {
        let data = data ?? Data()
        switch self {
        case .write(_, let offset, _, _): try handle.write(data, at: offset)
        case .append: return try handle.append(data)
        case .truncate(_, let length): try handle.truncate(to: length)
        case .punch(_, let range): try handle.punch(range)
        default: preconditionFailure("no change of a part")
        }
        return nil
    }
}

extension FileOperation: CustomStringConvertible {
    /// As it is written in a test.
    package var description: String {
        switch self {
        case .read(let handle, let offset, let count): ".read(\(handle), at: \(offset), count: \(count))"
        case .write(let handle, let offset, let count, let seed):
            ".write(\(handle), at: \(offset), count: \(count), seed: \(seed))"
        case .append(let handle, let count, let seed): ".append(\(handle), count: \(count), seed: \(seed))"
        case .truncate(let handle, let length): ".truncate(\(handle), to: \(length))"
        case .punch(let handle, let range): ".punch(\(handle), \(range.lowerBound)..<\(range.upperBound))"
        case .sync(let handle): ".sync(\(handle))"
        case .setProtection(let handle, let protection): ".setProtection(\(handle), .\(protection))"
        case .close(let handle): ".close(\(handle))"
        case .abandon(let handle): ".abandon(\(handle))"
        case .replace(let count, let protection, let seed):
            ".replace(count: \(count), .\(protection), seed: \(seed))"
        case .lock: ".lock"
        case .unlock: ".unlock"
        case .full(let operation, let call): ".full(\(operation), call: \(call))"
        case .kill(let operation, let call): ".kill(\(operation), call: \(call))"
        case .powerCut(let operation, let call, let seed): ".powerCut(\(operation), call: \(call), seed: \(seed))"
        }
    }

    /// Simpler ones that may show the same, the simplest first.
    package var simpler: [FileOperation] {
        switch self {
        case .write(let handle, let offset, let count, let seed):
            (count > 1 ? [.write(handle, at: offset, count: 1, seed: seed)] : [])
                + (offset > 0 ? [.write(handle, at: 0, count: count, seed: seed)] : [])
                + (handle == 1 ? [.write(0, at: offset, count: count, seed: seed)] : [])
        case .append(let handle, let count, let seed):
            (count > 1 ? [.append(handle, count: 1, seed: seed)] : [])
                + (handle == 1 ? [.append(0, count: count, seed: seed)] : [])
        case .truncate(let handle, let length): length > 0 ? [.truncate(handle, to: 0)] : []
        case .full(let operation, let call): [operation] + operation.simpler.map { .full($0, call: call) }
        case .kill(let operation, let call): [operation] + operation.simpler.map { .kill($0, call: call) }
        case .powerCut(let operation, let call, let seed):
            [operation] + operation.simpler.map { .powerCut($0, call: call, seed: seed) }
        default: []
        }
    }
}
