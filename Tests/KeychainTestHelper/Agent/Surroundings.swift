import Foundation
import Glibc
import KeychainClient
import KeychainEngine
import KeychainModel
import KeychainTestSupport

/// A program that somebody else has started.
enum Surroundings {
    /// Stores and finds an item, and ends: with 10 after an error of the keychain, with 11 if a descriptor of the library is
    /// one of the first three.
    ///
    /// - Parameter place: `engine` and a directory, or `socket` and a path.
    static func work(at place: String) -> Never {
        // What is closed now, and open later, the library has opened.
        let closed = (0...2).filter { fcntl($0, F_GETFD) < 0 }
        let words = place.split(separator: " ", maxSplits: 1).map(String.init)
        let caller = Caller(groups: ["G1"])
        do {
            let handler: any RequestHandler =
                words[0] == "engine"
                ? try Engine(.test(in: URL(fileURLWithPath: words[1])))
                : SocketCarrier(socketPath: words[1])
            var request = AddRequest(.genericPassword)
            request.attributes = [.account: .text("a")]
            request.secret = .of("secret")
            _ = try handler.handle(.add(request), from: caller)
            _ = try handler.handle(.find(FindRequest(ItemQuery(.genericPassword), wantsSecrets: true)), from: caller)
            exit(closed.contains { fcntl($0, F_GETFD) >= 0 } ? 11 : 0)
        } catch {
            exit(10)
        }
    }
}
