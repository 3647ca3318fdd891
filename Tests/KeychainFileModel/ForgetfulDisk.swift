package import Foundation
internal import Glibc
internal import KeychainSystem
internal import KeychainTestSupport
internal import Synchronization

/// Real files on a disk that has what was forced to it, and of everything else whatever chance has let through.
///
/// Each start of the system is a ``Session``. A ``powerCut(seed:)`` ends it, and makes of the files what a power cut could
/// have left: every sector of 512 bytes has the value of the last sync, or any that it was given since; a file has any
/// size that it had since; new names of a directory may be gone, the last ones first.
package final class ForgetfulDisk: Sendable {
    /// What one call changed in a file.
    private struct Event {
        /// Of the first byte, a multiple of 512.
        let offset: Int
        /// Both of the same length, a multiple of 512.
        let old: Data
        let new: Data
        let sizeBefore: Int
        let sizeAfter: Int
    }

    private struct Inode: Hashable {
        let device: dev_t
        let number: ino_t
    }

    private struct Unsynced {
        /// Of the file, for as long as it has such.
        let descriptor: Int32
        /// Of the first change, among those of all files.
        let number: Int
        var events: [Event] = []
    }

    private enum NameChange {
        case made(String)
        case moved(from: String, to: String, replaced: String?)
        case removed(String, keptAs: String)
    }

    private struct State {
        var session = 0
        var files: [Inode: Unsynced] = [:]
        /// By directory.
        var names: [String: [NameChange]] = [:]
        var keptCount = 0
        // Of this session.
        var callCount = 0
        var fault: (call: Int, kind: Fault)?
        var isDead = false
    }

    /// What happens at a call that changes something.
    package enum Fault: Sendable {
        /// It is refused for want of space, unless it is one that forces to the disk.
        case full
        /// A write does whole sectors of its first half, anything else nothing, and so does every later call.
        case death
    }

    private let state = Mutex(State())
    private let attic: String

    /// - Parameter attic: An existing directory on the same file system, for files that a name is taken from.
    package init(attic: URL) { self.attic = attic.path }

    deinit { state.withLock { for file in $0.files.values { close(file.descriptor) } } }

    /// The system, until the next power cut or the next start.
    package func start() -> Session {
        state.withLock { state in
            state.session += 1
            state.callCount = 0
            state.fault = nil
            state.isDead = false
            return Session(disk: self, number: state.session)
        }
    }

    /// How many calls of this session have changed something, or tried.
    package var callCount: Int { state.withLock { $0.callCount } }
    package var isDead: Bool { state.withLock { $0.isDead } }

    /// - Parameter call: Of those from now on; 0 is the next.
    package func fail(_ kind: Fault, at call: Int) {
        state.withLock { $0.fault = ($0.callCount + call, kind) }
    }

    package func failNoMore() { state.withLock { $0.fault = nil } }

    /// Ends the session, and makes of every file what a power cut could have left.
    package func powerCut(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        state.withLock { state in
            state.session += 1
            for (_, changes) in state.names.sorted(by: { $0.key < $1.key }) {
                Self.undo(changes[generator.below(changes.count + 1)...])
            }
            state.names = [:]
            for file in state.files.values.sorted(by: { $0.number < $1.number }) {
                Self.draw(file, &generator)
                close(file.descriptor)
            }
            state.files = [:]
        }
    }

    // MARK: What is left

    private static func undo(_ changes: ArraySlice<NameChange>) {
        for change in changes.reversed() {
            switch change {
            case .made(let path): unlink(path)
            case .moved(let from, let to, let replaced):
                _ = Glibc.rename(to, from)
                if let replaced { _ = Glibc.rename(replaced, to) }
            case .removed(let path, let kept): _ = Glibc.rename(kept, path)
            }
        }
    }

    /// How likely what is.
    private enum Weather: CaseIterable {
        /// Each sector has any of its values.
        case anything
        /// Each page of 4,096 bytes is as it was at some moment.
        case pages
        /// Everything up to some moment, and any page of what was later.
        case inOrder
        /// All but a few sectors arrived.
        case nearlyAll
        /// Nothing but a few sectors arrived.
        case nearlyNothing
    }

    private static func draw(_ file: Unsynced, _ generator: inout SeededGenerator) {
        guard let first = file.events.first, let last = file.events.last else { return }
        let weather = Weather.allCases[generator.below(Weather.allCases.count)]
        let moment = generator.below(file.events.count + 1)
        /// Of each sector, by its place: which event gave it which value. The first is that of the last sync.
        var values: [Int: [(event: Int, value: Data)]] = [:]
        for (number, event) in file.events.enumerated() {
            for start in stride(from: 0, to: event.new.count, by: sectorSize) {
                let place = event.offset + start
                if values[place] == nil {
                    values[place] = [(-1, event.old.subdata(in: start..<(start + sectorSize)))]
                }
                values[place]!.append((number, event.new.subdata(in: start..<(start + sectorSize))))
            }
        }
        let moments = PageMoments(count: file.events.count, seed: generator.next())
        let sizes = [first.sizeBefore] + file.events.map(\.sizeAfter)
        let size = generator.below(2) == 0 ? last.sizeAfter : sizes[generator.below(sizes.count)]
        for (place, given) in values.sorted(by: { $0.key < $1.key }) {
            // The headers are what everything hangs on.
            let weather = place < 4096 && generator.below(2) == 0 ? .anything : weather
            let number =
                switch weather {
                case .anything: generator.below(given.count)
                case .pages: given.lastIndex { $0.event < moments.of(place) } ?? 0
                case .inOrder: given.lastIndex { $0.event < max(moment, moments.of(place)) } ?? 0
                case .nearlyAll: generator.below(12) == 0 ? generator.below(given.count) : given.count - 1
                case .nearlyNothing: generator.below(12) == 0 ? generator.below(given.count) : 0
                }
            let done = given[number].value.withUnsafeBytes { pwrite(file.descriptor, $0.baseAddress, $0.count, place) }
            precondition(done == sectorSize, "the test's own disk is full")
        }
        precondition(ftruncate(file.descriptor, size) == 0, "the test's own disk is full")
    }

    /// At which moment each page was written out, by lot.
    private struct PageMoments {
        let count: Int
        let seed: UInt64
        func of(_ place: Int) -> Int {
            var generator = SeededGenerator(seed: seed &+ UInt64(place / 4096) &* 0x9E37_79B9)
            return generator.below(count + 1)
        }
    }

    private static let sectorSize = 512

    // MARK: Calls

    /// Runs a call, unless something keeps it from that.
    ///
    /// - Parameter half: What becomes of it if the system dies at this moment.
    private func call(
        _ session: Int, isSync: Bool = false, half: (inout State) -> Void = { _ in }, _ body: (inout State) -> Int
    ) -> Int {
        state.withLock { state in
            guard state.session == session, !state.isDead else {
                errno = EIO
                return -1
            }
            defer { state.callCount += 1 }
            if let fault = state.fault, fault.call == state.callCount, !(fault.kind == .full && isSync) {
                if fault.kind == .death {
                    half(&state)
                    state.isDead = true
                }
                errno = fault.kind == .full ? ENOSPC : EIO
                return -1
            }
            return body(&state)
        }
    }

    private static func size(of file: Int32) -> Int {
        var status = stat()
        precondition(fstat(file, &status) == 0)
        return Int(status.st_size)
    }

    /// Zeros where the file has nothing.
    private static func bytes(of file: Int32, _ range: Range<Int>) -> Data {
        var data = Data(count: range.count)
        data.withUnsafeMutableBytes { bytes in
            var count = 0
            while count < bytes.count {
                let more = pread(file, bytes.baseAddress! + count, bytes.count - count, range.lowerBound + count)
                if more <= 0 { break }
                count += more
            }
        }
        return data
    }

    /// Runs a call that changes a part of a file, and notes what it was before and is afterwards.
    private static func note<R>(_ state: inout State, _ file: Int32, _ range: Range<Int>, _ body: () -> R) -> R {
        var status = stat()
        precondition(fstat(file, &status) == 0)
        let inode = Inode(device: status.st_dev, number: status.st_ino)
        if state.files[inode] == nil {
            let own = open("/proc/self/fd/\(file)", O_RDWR | O_CLOEXEC)
            precondition(own >= 0, "no descriptor is left")
            state.files[inode] = Unsynced(descriptor: own, number: state.callCount)
        }
        let first = range.lowerBound / sectorSize * sectorSize
        let sectors = first..<max(first, (range.upperBound + sectorSize - 1) / sectorSize * sectorSize)
        let own = state.files[inode]!.descriptor
        let old = bytes(of: own, sectors)
        let sizeBefore = Int(status.st_size)
        let result = body()
        let event = Event(
            offset: sectors.lowerBound, old: old, new: bytes(of: own, sectors), sizeBefore: sizeBefore,
            sizeAfter: size(of: own))
        state.files[inode]!.events.append(event)
        return result
    }

    private static func forget(_ state: inout State, _ file: Int32) {
        var status = stat()
        precondition(fstat(file, &status) == 0)
        if status.st_mode & S_IFMT == S_IFDIR {
            for change in state.names.removeValue(forKey: path(of: file)) ?? [] {
                switch change {
                case .made: break
                case .moved(_, _, let kept): if let kept { unlink(kept) }
                case .removed(_, let kept): unlink(kept)
                }
            }
            return
        }
        if let known = state.files.removeValue(forKey: Inode(device: status.st_dev, number: status.st_ino)) {
            close(known.descriptor)
        }
    }

    private static func path(of file: Int32) -> String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/fd/\(file)", &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private func keep(_ path: String, _ state: inout State) -> String? {
        state.keptCount += 1
        let kept = "\(attic)/\(state.keptCount)"
        return Glibc.link(path, kept) == 0 ? kept : nil
    }

    private static func directory(of path: String) -> String {
        let real = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard let resolved = realpath(real, nil) else { return real }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}

extension ForgetfulDisk {
    /// One run of the system. When another one has begun, it can change nothing any more.
    package struct Session: FileSystem {
        fileprivate let disk: ForgetfulDisk
        fileprivate let number: Int

        private func perform(isSync: Bool = false, _ body: (inout State) -> Int32) -> Int32 {
            Int32(disk.call(number, isSync: isSync) { Int(body(&$0)) })
        }

        package func open(_ path: String, _ flags: Int32, mode: mode_t) -> Int32 {
            perform { state in
                let isNew = flags & O_CREAT != 0 && access(path, F_OK) != 0
                let file = Glibc.open(path, flags, mode)
                if file >= 0 && isNew { state.names[directory(of: path), default: []].append(.made(path)) }
                return file
            }
        }

        package func write(_ bytes: UnsafeRawBufferPointer, to file: Int32) -> Int {
            write(bytes, to: file, at: Int(lseek(file, off_t(bytes.count), SEEK_CUR)) - bytes.count)
        }

        package func write(_ bytes: UnsafeRawBufferPointer, to file: Int32, at offset: Int) -> Int {
            func write(_ count: Int, _ state: inout State) -> Int {
                note(&state, file, offset..<(offset + count)) { pwrite(file, bytes.baseAddress, count, offset) }
            }
            let half = bytes.count / 2 / sectorSize * sectorSize
            return disk.call(number, half: { if half > 0 { _ = write(half, &$0) } }) { write(bytes.count, &$0) }
        }

        package func sync(_ file: Int32) -> Int32 { syncData(file) }

        /// Nothing that the model does asks for it.
        package func syncAll(_ file: Int32) -> Int32 {
            errno = ENOTSUP
            return -1
        }

        package func syncData(_ file: Int32) -> Int32 {
            perform(isSync: true) { state in
                forget(&state, file)
                return 0
            }
        }

        package func truncate(_ file: Int32, to size: Int) -> Int32 {
            perform { state in
                let former = ForgetfulDisk.size(of: file)
                // What is cut off may stay, and be what the file ends with after all.
                return note(&state, file, min(size, former)..<former) { ftruncate(file, size) }
            }
        }

        package func punch(_ file: Int32, at offset: Int, count: Int) -> Int32 {
            perform { state in
                note(&state, file, offset..<(offset + count)) {
                    SystemFiles().punch(file, at: offset, count: count)
                }
            }
        }

        package func rename(_ path: String, to name: String) -> Int32 {
            perform { state in
                let kept = disk.keep(name, &state)
                guard Glibc.rename(path, name) == 0 else { return -1 }
                state.names[directory(of: name), default: []].append(.moved(from: path, to: name, replaced: kept))
                return 0
            }
        }

        package func link(_ path: String, to name: String) -> Int32 {
            perform { state in
                guard Glibc.link(path, name) == 0 else { return -1 }
                state.names[directory(of: name), default: []].append(.made(name))
                return 0
            }
        }

        package func remove(_ path: String) -> Int32 {
            perform { state in
                guard let kept = disk.keep(path, &state) else { return -1 }
                guard unlink(path) == 0 else { return -1 }
                state.names[directory(of: path), default: []].append(.removed(path, keptAs: kept))
                return 0
            }
        }

        package func makeDirectory(_ path: String) -> Int32 { perform { _ in mkdir(path, 0o700) } }
    }
}
