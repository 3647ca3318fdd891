import Foundation
import Story

/// `MutualTLS serve NAME CA`             greets every client that has a certificate of the authority in the file CA
/// `MutualTLS call NAME CA HOST PORT`    calls such a server, and prints what it says
///
/// NAME is the label of an identity in the keychain. Its private key stays there: with a daemon, its bytes are never in this process.
@main
struct Program {
    static func main() async {
        await story(run)
    }

    private static func run() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch (arguments.first, arguments.count) {
        case ("serve"?, 3):
            let peers = try PeerRules(authority: arguments[2], peer: .client)
            let server = try await GreetingServer(identity: try Identity.find(arguments[1]), peers)
            print(server.port)
            // The reader of a pipe waits for the port.
            fflush(nil)
            try await server.run()
        case ("call"?, 5):
            guard let port = Int(arguments[4]) else { stop("a port is a number, and not \(arguments[4])") }
            let peers = try PeerRules(authority: arguments[2], peer: .server(host: arguments[3]))
            print(try await call(arguments[3], port, identity: try Identity.find(arguments[1]), peers))
        default: stop("usage: MutualTLS serve NAME CA | call NAME CA HOST PORT")
        }
    }
}
