internal import Glibc
internal import KeychainModel
internal import KeychainSystem

/// The memory of one request and its answer, as shares of the daemon's budget.
struct WorkMemory {
    private let services: Services
    private let socket: OpenDescriptor
    private let user: uid_t
    /// How large the frame of the request was.
    private(set) var requestBytes = 0
    /// Whether the request takes so little that it need not be counted.
    private var isSmall = true
    /// The share of the request and its decoded form, for as long as they are there.
    private var request: MemoryBudget.Share?
    private var answer: MemoryBudget.Share?

    init(_ services: Services, _ socket: OpenDescriptor, of user: uid_t) {
        self.services = services
        self.user = user
        self.socket = socket
    }

    mutating func begin(_ frame: ReceivedFrame) {
        requestBytes = frame.byteCount
        isSmall = services.limits.memoryBytes(of: frame.header) <= services.limits.uncountedAnswerBytes
        request = frame.share
    }

    mutating func giveBack() { (request, answer) = (nil, nil) }

    /// Takes memory for an answer. The share of a small request is given back first. A larger request stays in memory,
    /// and keeps its share.
    ///
    /// - Returns: false if there is too little.
    mutating func take(_ count: Int) -> Bool {
        answer = nil
        if isSmall { request = nil }
        answer = services.budget.take(count, nil, over: socket, of: user, besides: request)
        return answer != nil
    }

    /// Gives back the memory that the answer does not take.
    ///
    /// - Throws: `.goodbye` if nothing was taken for it, and there is too little.
    mutating func keep(for result: Result<Reply, KeychainError>) throws(ConnectionEnd) {
        guard case .success(let reply) = result, reply.byteCount > services.limits.uncountedAnswerBytes else {
            answer = nil
            return
        }
        let count = reply.byteCount
        answer?.shrink(to: count)
        // An answer with the secrets of its request takes no more memory than the request.
        if answer == nil && count > requestBytes + services.limits.uncountedAnswerBytes && !take(count) {
            throw .noMemoryForAnswer
        }
        request?.send()
        answer?.send()
    }

    /// So many bytes of the answer were taken by the client.
    func note(_ count: Int) {
        request?.note(count)
        answer?.note(count)
    }

    var wasCutOff: Bool { [request, answer].contains { $0?.wasCutOff == true } }
}
