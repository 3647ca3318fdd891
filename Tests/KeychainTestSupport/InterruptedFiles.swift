package import Glibc
internal import KeychainSystem
internal import Synchronization

/// A file system during one of whose calls something else happens, once.
package final class InterruptedFiles: FileSystem {
    package enum Call: Sendable, Equatable {
        /// A write at some place of any file.
        case write
        /// The opening of a file that is made if it is missing.
        case make(String)
    }
    private struct State {
        var left = 0
        var body: (@Sendable () throws -> Void)?
        var result: Result<Void, any Error>?
    }
    private let call: Call
    private let state = Mutex(State())
    private let files = SystemFiles()

    package init(_ call: Call) { self.call = call }

    /// - Parameter number: Which of the calls from now on is interrupted, from 1.
    package func interrupt(at number: Int = 1, _ body: @escaping @Sendable () throws -> Void) {
        state.withLock { $0 = State(left: number, body: body) }
    }

    /// Throws what went wrong in what happened.
    package func wasInterrupted() throws -> Bool {
        try state.withLock { try $0.result?.get() != nil }
    }

    private func passes(_ present: Call) {
        guard present == call else { return }
        let body = state.withLock { state in
            state.left -= 1
            return state.left == 0 ? state.body : nil
        }
        guard let body else { return }
        let result = Result { try body() }
        state.withLock { $0.result = result }
    }

    package func open(_ path: String, _ flags: Int32, mode: mode_t) -> Int32 {
        if flags & O_CREAT != 0 { passes(.make(path)) }
        return files.open(path, flags, mode: mode)
    }

    package func write(_ bytes: UnsafeRawBufferPointer, to file: Int32, at offset: Int) -> Int {
        passes(.write)
        return files.write(bytes, to: file, at: offset)
    }

    package func write(_ bytes: UnsafeRawBufferPointer, to file: Int32) -> Int { files.write(bytes, to: file) }
    package func sync(_ file: Int32) -> Int32 { files.sync(file) }
    package func syncData(_ file: Int32) -> Int32 { files.syncData(file) }
    package func syncAll(_ file: Int32) -> Int32 { files.syncAll(file) }
    package func truncate(_ file: Int32, to size: Int) -> Int32 { files.truncate(file, to: size) }
    package func punch(_ file: Int32, at offset: Int, count: Int) -> Int32 {
        files.punch(file, at: offset, count: count)
    }
    package func rename(_ path: String, to name: String) -> Int32 { files.rename(path, to: name) }
    package func link(_ path: String, to name: String) -> Int32 { files.link(path, to: name) }
    package func remove(_ path: String) -> Int32 { files.remove(path) }
    package func makeDirectory(_ path: String) -> Int32 { files.makeDirectory(path) }
}
