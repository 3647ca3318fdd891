import DataProtection
import Foundation
import Glibc
import KeychainFileModel
import KeychainTestSupport

/// One of two programs that change a protected file.
///
/// For each line of standard input it draws the next operation, and answers with a line when that is done: "=", with the
/// place of what it appended. The line "leave" tells it to close the file instead.
struct FileTurns {
    static let chunkBits: UInt8 = 12
    /// Seconds that no operation takes.
    static let patience: UInt32 = 120

    /// Where one of the programs leaves what it has read.
    static func reading(of number: Int, in directory: URL) -> URL { directory.appendingPathComponent("read-\(number)") }

    private let files: ProtectedFiles
    private let url: URL
    private let reading: URL
    /// false: writes are acknowledged and not made.
    private let isHonest: Bool
    private var source: OperationSource
    private var handles: [Int: ProtectedFileHandle] = [:]

    init(_ directory: URL, number: Int, seed: UInt64, isHonest: Bool) throws {
        files = try FileWorker.files(in: directory, chunkBits: Self.chunkBits)
        url = FileWorker.file(in: directory)
        reading = Self.reading(of: number, in: directory)
        self.isHonest = isHonest
        source = OperationSource(seed: seed, chunkBits: Self.chunkBits)
    }

    mutating func run() {
        say("begun")
        while let line = readLine() {
            alarm(Self.patience)
            let operation = source.nextUndisturbed()
            do {
                say("=" + (line == "leave" ? leave() : try perform(operation)))
            } catch {
                say("\(operation): \(error)")
            }
            alarm(0)
        }
    }

    private mutating func leave() -> String {
        for handle in handles.values { handle.closeWithoutWaiting() }
        handles = [:]
        return ""
    }

    private mutating func handle(_ number: Int) throws -> ProtectedFileHandle {
        let handle = try handles[number] ?? files.open(url, for: number == 2 ? .reading : .writing)
        handles[number] = handle
        return handle
    }

    private mutating func perform(_ operation: FileOperation) throws -> String {
        switch operation {
        case .read(let number, let offset, let count):
            try handle(number).read(at: offset, count: count).write(to: reading)
        case .sync(let number):
            let handle = try handle(number)
            do throws(DataProtectionError) {
                try handle.sync()
            } catch {
                // A reader cannot make durable what others have written.
                guard number == 2 && error.errno == EBADF else { throw error }
            }
        case .setProtection(let number, let protection): try handle(number).setProtection(protection)
        case .close(let number): try handles.removeValue(forKey: number)?.close()
        case .abandon(let number): handles.removeValue(forKey: number)?.closeWithoutWaiting()
        case .replace(_, let protection, _):
            try files.write(operation.data ?? Data(), to: url, protection: protection)
            return leave()
        case .write where !isHonest: break
        case .write(let number, _, _, _), .append(let number, _, _), .truncate(let number, _), .punch(let number, _):
            if let place = try operation.change(try handle(number)) { return "\(place)" }
        case .lock, .unlock, .full, .kill, .powerCut: preconditionFailure("no operation of a file")
        }
        return ""
    }
}
