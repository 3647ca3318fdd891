import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import Synchronization
import X509

/// A server on the loopback that greets over TLS and closes. It has one event loop.
struct TLSServer {
    let port: Int
    private let channel: any Channel
    private let failures: Failures

    init(key: NIOSSLPrivateKey, _ certificate: Certificate, cipherSuites: [NIOTLSCipher]? = nil) async throws {
        let pem = try Array(certificate.pem.utf8)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(try NIOSSLCertificate(bytes: pem, format: .pem))],
            privateKey: .privateKey(key))
        if let cipherSuites { configuration.cipherSuiteValues = cipherSuites }
        let context = try NIOSSLContext(configuration: configuration)
        let failures = Failures()
        channel = try await ServerBootstrap(group: Self.loop)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        NIOSSLServerHandler(context: context), Greeter(failures))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
        self.failures = failures
    }

    /// The event loop that every server here shares.
    static let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    func close() async throws { try await channel.close() }

    /// What went wrong with the connections so far.
    var errors: [any Error] { failures.errors.withLock { $0 } }

    private final class Failures: Sendable {
        let errors = Mutex<[any Error]>([])
    }

    private final class Greeter: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let failures: Failures

        init(_ failures: Failures) { self.failures = failures }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            guard let event = event as? TLSUserEvent, case .handshakeCompleted = event else {
                return context.fireUserInboundEventTriggered(event)
            }
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "good morning\n")), promise: nil)
            context.close(promise: nil)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            failures.errors.withLock { $0.append(error) }
            context.close(promise: nil)
        }
    }
}
