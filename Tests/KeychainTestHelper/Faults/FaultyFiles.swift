import CKeychainFaults
import Glibc
import KeychainCrypto
import KeychainEngine
import KeychainModel
import KeychainSystem
import Synchronization

/// The way of the engine's own files to the disk, through the fault layer.
struct FaultyFiles: FileSystem {
    /// false: nothing is synced, and nobody is told.
    let syncs: Bool

    /// All files that are made here belong to their owner alone.
    func open(_ path: String, _ flags: Int32, mode: mode_t) -> Int32 { ckeychain_faults_open(path, flags) }

    func write(_ bytes: UnsafeRawBufferPointer, to file: Int32) -> Int {
        ckeychain_faults_write(file, bytes.baseAddress, bytes.count)
    }

    func write(_ bytes: UnsafeRawBufferPointer, to file: Int32, at offset: Int) -> Int {
        ckeychain_faults_pwrite(file, bytes.baseAddress, bytes.count, Int64(offset))
    }

    func sync(_ file: Int32) -> Int32 { syncs ? ckeychain_faults_fsync(file) : 0 }
    func syncData(_ file: Int32) -> Int32 { syncs ? ckeychain_faults_fsync(file) : 0 }

    // For protected files alone, which are not tried here.
    func truncate(_ file: Int32, to size: Int) -> Int32 { ftruncate(file, off_t(size)) }
    func punch(_ file: Int32, at offset: Int, count: Int) -> Int32 {
        SystemFiles().punch(file, at: offset, count: count)
    }
    func syncAll(_ file: Int32) -> Int32 { sync(file) }

    func rename(_ path: String, to name: String) -> Int32 { ckeychain_faults_rename(path, name) }
    func link(_ path: String, to name: String) -> Int32 { ckeychain_faults_link(path, name) }
    func remove(_ path: String) -> Int32 { ckeychain_faults_unlink(path) }
    func makeDirectory(_ path: String) -> Int32 { ckeychain_faults_mkdir(path) }
}

/// The same bytes in every run, so that a step is the same one each time.
final class SeededRandomness: Randomness {
    private let state: Mutex<UInt64>

    init(seed: UInt64) { state = Mutex(seed) }

    func fill(_ bytes: UnsafeMutableRawBufferPointer) throws(KeychainError) {
        state.withLock { state in
            for index in bytes.indices {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                bytes[index] = UInt8(truncatingIfNeeded: state >> 56)
            }
        }
    }
}
