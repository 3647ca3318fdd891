import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// A server on the loopback that answers every request with the name in the client's certificate.
struct GreetingServer {
    private let channel: any Channel

    init(identity: Identity, _ peers: PeerRules) async throws {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(identity.certificate)], privateKey: .privateKey(identity.key))
        // A certificate is demanded. PeerRules says which one is good.
        configuration.certificateVerification = .noHostnameVerification
        let context = try NIOSSLContext(configuration: configuration)
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let greeter = Greeter()
                    let tls = NIOSSLServerHandler(
                        context: context, customVerificationCallback: peers.callback(greeter.name.set))
                    try channel.pipeline.syncOperations.addHandlers(tls, greeter)
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    var port: Int { channel.localAddress?.port ?? 0 }

    func run() async throws { try await channel.closeFuture.get() }
}

private final class Greeter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let name = PeerName()

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let text = "Good morning, \(name.value)\n"
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\nConnection: close\r\n\r\n\(text)"
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
        context.close(promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// Set by the handshake, read by the answer.
final class PeerName: Sendable {
    private let name = Mutex("nobody")

    var value: String { name.withLock { $0 } }

    @Sendable func set(_ new: String) { name.withLock { $0 = new } }
}
