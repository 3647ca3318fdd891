import CTransport
import NIOCore
import NIOPosix

/// swift-nio: the event loops answer by themselves, or hand the work to a pool and send what comes back.
enum NIOServer {
    static func run(path: String, rounds: UInt64, loops: Int, poolThreads: Int) throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: loops)
        let pool = poolThreads > 0 ? NIOThreadPool(numberOfThreads: poolThreads) : nil
        pool?.start()
        let server = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 256)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AnswerHandler(rounds: rounds, pool: pool))
                }
            }
        try server.bind(unixDomainSocketPath: path).wait().closeFuture.wait()
    }
}

private final class AnswerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let rounds: UInt64
    private let pool: NIOThreadPool?
    private var received = ByteBuffer()

    init(rounds: UInt64, pool: NIOThreadPool?) {
        self.rounds = rounds
        self.pool = pool
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var part = unwrapInboundIn(data)
        if received.readableBytes == 0 { received = part } else { received.writeBuffer(&part) }
        while let size = frameSize(), received.readableBytes >= size {
            received.moveReaderIndex(forwardBy: size)
            answer(context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func frameSize() -> Int? {
        guard received.readableBytes >= transport_header_size else { return nil }
        return received.withUnsafeReadableBytes { transport_frame_size($0.baseAddress) }
    }

    private func answer(_ context: ChannelHandlerContext) {
        guard let pool else {
            transport_work(rounds)
            return send(context)
        }
        let rounds = rounds
        pool.runIfActive(eventLoop: context.eventLoop) { transport_work(rounds) }
            .assumeIsolated()
            .whenSuccess { self.send(context) }
    }

    private func send(_ context: ChannelHandlerContext) {
        var reply = context.channel.allocator.buffer(capacity: Int(transport_reply_size))
        reply.writeWithUnsafeMutableBytes(minimumWritableBytes: Int(transport_reply_size)) { bytes in
            transport_fill_frame(bytes.baseAddress, Int(transport_reply_size))
            return Int(transport_reply_size)
        }
        context.writeAndFlush(wrapOutboundOut(reply), promise: nil)
    }
}
