import Dispatch
import Foundation
import KeychainClient
import KeychainModel
import KeychainTestSupport
import SwiftKeychain
import Synchronization

/// The clients of one process: threads, each with a connection of its own.
enum ClientWork {
    static func run(at socket: String, threads: Int, calls: Int, seed: UInt64) -> [MixedWork.Report] {
        let reports = Mutex<[MixedWork.Report]>([])
        let group = DispatchGroup()
        for number in 0..<threads {
            group.enter()
            let thread = Thread {
                var work = MixedWork(
                    SocketCarrier(socketPath: socket), worker: "p\(getpid())t\(number)", seed: seed &+ UInt64(number))
                let report = work.run(calls: calls)
                reports.withLock { $0.append(report) }
                group.leave()
            }
            thread.start()
        }
        group.wait()
        return reports.withLock { $0 }
    }
}

extension Caller {
    static let probe = Caller(groups: ["G"])
}
