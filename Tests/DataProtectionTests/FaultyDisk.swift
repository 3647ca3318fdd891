import Foundation
import Glibc
import KeychainSystem
import Synchronization

/// A disk on which some call fails, and which notes what it is asked to do.
final class FaultyDisk: FileSystem {
    enum Fault: Sendable, CaseIterable {
        /// This call fails, those after it do not.
        case full, broken
        /// This call writes half of what it was given, in whole sectors, and then the program is gone: nothing is done any
        /// more.
        case killed
    }

    private struct State {
        var calls: [String] = []
        var step: Int?
        var fault = Fault.full
        var isDead = false
        var most = Int.max
        var refusals = 0
    }
    /// Is told each call before it is made.
    private let observer: @Sendable (String) -> Void
    private let state = Mutex(State())
    private let disk = SystemFiles()

    init(observer: @escaping @Sendable (String) -> Void = { _ in }) { self.observer = observer }

    /// Begins to count; the call of this number fails. nil: none does.
    func fail(at step: Int?, _ fault: Fault = .full) {
        state.withLock { $0 = State(step: step, fault: fault) }
    }

    /// No file gets more bytes than that.
    func limit(to most: Int) { state.withLock { $0.most = most } }

    private func isFull(_ size: Int) -> Bool {
        state.withLock { state in
            guard size > state.most else { return false }
            state.refusals += 1
            return true
        }
    }

    /// How often a file would have become larger than that.
    var refusals: Int { state.withLock { $0.refusals } }

    /// Which call failed; nil: none has so far.
    var failed: String? {
        state.withLock { state in state.step.flatMap { $0 < state.calls.count ? state.calls[$0] : nil } }
    }

    /// In their order: "open", "write", "sync", "rename", "link", "remove", "sync directory",
    /// "sync all".
    var calls: [String] { state.withLock { $0.calls } }

    private func attempt(_ name: String) -> Fault? {
        observer(name)
        return state.withLock { state in
            if state.isDead { return .killed }
            state.calls.append(name)
            guard state.calls.count - 1 == state.step else { return nil }
            if state.fault == .killed { state.isDead = true }
            return state.fault
        }
    }

    private var isDead: Bool { state.withLock { $0.isDead } }

    private func refuse(_ fault: Fault) -> Int32 {
        errno = fault == .full ? ENOSPC : EIO
        return -1
    }

    func open(_ path: String, _ flags: Int32, mode: mode_t) -> Int32 {
        if let fault = attempt("open") { return refuse(fault) }
        return disk.open(path, flags, mode: mode)
    }

    func write(_ bytes: UnsafeRawBufferPointer, to file: Int32) -> Int {
        if let fault = attempt("write") { return Int(refuse(fault)) }
        return disk.write(bytes, to: file)
    }

    func write(_ bytes: UnsafeRawBufferPointer, to file: Int32, at offset: Int) -> Int {
        let wasDead = isDead
        if let fault = attempt("write") {
            // What lies within a page of memory is written at once, and a sector always does.
            let half = bytes.count / 2 / 512 * 512
            if !wasDead && half > 0 {
                _ = disk.write(UnsafeRawBufferPointer(rebasing: bytes.prefix(half)), to: file, at: offset)
            }
            return Int(refuse(fault))
        }
        if isFull(offset + bytes.count) { return Int(refuse(.full)) }
        return disk.write(bytes, to: file, at: offset)
    }

    func sync(_ file: Int32) -> Int32 {
        var status = stat()
        fstat(file, &status)
        let name = status.st_mode & S_IFMT == S_IFDIR ? "sync directory" : "sync"
        if let fault = attempt(name) { return refuse(fault) }
        return disk.sync(file)
    }

    func syncData(_ file: Int32) -> Int32 {
        if let fault = attempt("sync") { return refuse(fault) }
        return disk.syncData(file)
    }

    func truncate(_ file: Int32, to size: Int) -> Int32 {
        if let fault = attempt("truncate") { return refuse(fault) }
        if isFull(size) { return refuse(.full) }
        return disk.truncate(file, to: size)
    }

    func punch(_ file: Int32, at offset: Int, count: Int) -> Int32 {
        if let fault = attempt("punch") { return refuse(fault) }
        return disk.punch(file, at: offset, count: count)
    }

    func syncAll(_ file: Int32) -> Int32 {
        if let fault = attempt("sync all") { return refuse(fault) }
        return disk.syncAll(file)
    }

    func rename(_ path: String, to name: String) -> Int32 {
        if let fault = attempt("rename") { return refuse(fault) }
        return disk.rename(path, to: name)
    }

    func link(_ path: String, to name: String) -> Int32 {
        if let fault = attempt("link") { return refuse(fault) }
        return disk.link(path, to: name)
    }

    func remove(_ path: String) -> Int32 {
        if let fault = attempt("remove") { return refuse(fault) }
        return disk.remove(path)
    }

    func makeDirectory(_ path: String) -> Int32 { disk.makeDirectory(path) }
}
