import NIOCore
import NIOPosix
import NIOSSL

/// Sends one request, and returns the last line of the answer.
func call(_ host: String, _ port: Int, identity: Identity, _ peers: PeerRules) async throws -> String {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.certificateChain = [.certificate(identity.certificate)]
    configuration.privateKey = .privateKey(identity.key)
    let context = try NIOSSLContext(configuration: configuration)
    let answer = MultiThreadedEventLoopGroup.singleton.next().makePromise(of: String.self)
    let connection = try await ClientBootstrap(group: answer.futureResult.eventLoop)
        .channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                let tls = try NIOSSLClientHandler(
                    context: context, serverHostname: host, customVerificationCallback: peers.callback { _ in })
                try channel.pipeline.syncOperations.addHandlers(tls, Asker(answer))
            }
        }
        // The name is the certificate's. The example stays on this machine.
        .connect(host: "127.0.0.1", port: port).get()
    defer { connection.close(promise: nil) }
    return try await answer.futureResult.get()
}

private final class Asker: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let answer: EventLoopPromise<String>
    private var text = ""

    init(_ answer: EventLoopPromise<String>) { self.answer = answer }

    func channelActive(context: ChannelHandlerContext) {
        let request = ByteBuffer(string: "GET / HTTP/1.1\r\nHost: example\r\nConnection: close\r\n\r\n")
        context.writeAndFlush(wrapOutboundOut(request), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { text += String(buffer: unwrapInboundIn(data)) }

    func channelInactive(context: ChannelHandlerContext) {
        struct NoAnswer: Error {}
        let line = text.split(whereSeparator: \.isNewline).last
        answer.completeWith(line.map { .success(String($0)) } ?? .failure(NoAnswer()))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        answer.fail(error)
        context.close(promise: nil)
    }
}
