internal import KeychainModel
internal import KeychainWire

/// The limits of a client's use of the daemon, so that a broken or hostile client is a nuisance to itself alone.
package struct Limits: Sendable {
    // MARK: Connections

    /// Each costs a thread, two descriptors and some 40 KiB; a desktop session with every program connected has about
    /// a hundred.
    package var connections = 512
    /// Beyond them, one for each process that has no other.
    package var furtherConnections = 32
    /// So many that have given back their place may be about to end. One that reads no answers takes a minute.
    package var endingConnections = 64
    /// A program that serves many users at once has a connection for each of its threads.
    package var connectionsPerProcess = 64

    // MARK: Size

    /// The limit of a message with its tail.
    package var frameBytes = WireHeader.mostBytes
    /// The first message has only names of groups.
    package var helloBytes = 1 << 20
    /// Frames up to this size are read into the connection's own buffer. Larger ones take memory of their own.
    package var bufferBytes = 8 << 10
    /// The decoded form of a message takes up to so many times its length: a change of six bytes is a query of some
    /// 800.
    package var decodedBytesPerByte = 136
    /// The decoded form of a shorter message is not counted.
    package var uncountedMessageBytes = 1 << 10
    /// The memory of all larger frames and messages with their decoded forms, and of all answers that are not taken
    /// yet, together. A single larger one waits until it is alone.
    package var transferBytes = 96 << 20
    /// Small transfers have so much more.
    package var bytesForSmallTransfers = 16 << 20
    package var smallTransferBytes = 1 << 20
    /// A daemon of all users has as much memory for transfers as this many of them may have.
    package var usersOfAllMemory = 4
    /// Smaller answers are not counted: that many bytes the kernel takes at once.
    package var uncountedAnswerBytes = 64 << 10

    /// The items of one answer may have so much together: a quarter of a million small ones, or two of the largest.
    package static let answerBytes = 192 << 20
    /// The most that a request takes while it is worked on: the largest answer, and beside it an item of the largest in
    /// two copies.
    static let mostWorkBytes = answerBytes + 2 * Item.mostBytes + 1 << 20

    // MARK: Time

    /// From the connection to its whole first message, which a client sends at once.
    package var helloTime = Duration.seconds(5)
    /// From a frame's first byte to its last: 80 MiB take about 0.1 s, on a machine that swaps some seconds.
    package var frameTime = Duration.seconds(10)
    /// How long nothing of an answer may be taken by the client.
    package var sendTime = Duration.seconds(10)
    /// From the first byte of an answer to the beginning of its last part: it is in memory until then.
    package var answerTime = Duration.seconds(60)
    /// How long a large frame or answer waits for memory that others use.
    package var memoryTime = Duration.seconds(5)
    /// How often a client whose request takes long is told that the daemon runs.
    package var signInterval = Duration.seconds(2)
    /// How long the end of the daemon waits for requests in progress. The longest ordinary one checks a passcode (a
    /// third of a second); a step of a renewal of keys takes about as long.
    package var stopTime = Duration.seconds(5)

    /// After so long without a connection the daemon asks to be ended, unless its end would lock something; nil: never.
    /// The setting is for a daemon that systemd starts again.
    package var idleTime: Duration?

    // MARK: Rate

    /// The requests a second of one connection: about as many as it can have answered anyway.
    package var requestsPerSecond = 20_000.0
    /// Requests that may come at once after a pause: two seconds' worth.
    package var burst = 40_000.0

    // MARK: Work at once

    /// Searches for single items. They wait for nothing but the processor; the engine keeps eight readers open.
    package var readsAtOnce = 8
    /// Writes wait for the disk, and waiting writes share one commit.
    package var writesAtOnce = 128
    /// Requests that go through many rows or have much data, each of which may have hundreds of megabytes in memory.
    package var largeAtOnce = 3
    /// Each takes 128 MiB and a processor for a third of a second (scrypt).
    package var passcodesAtOnce = 1

    // MARK: Threads

    /// See ``WorkerThread``.
    package var stackBytes = 512 << 10

    package init() {}

    /// For the stores and the programs of all users.
    package static var ofSystem: Limits {
        var limits = Limits()
        limits.connections = 2_048
        // A user with many connections has many that end when others come.
        limits.endingConnections = 512
        // A store has eight readers, and no program of its user has all of them.
        limits.readsAtOnce = 4
        // The kernel's evidence of the process has two.
        limits.descriptorsPerConnection = 5
        // Several stores may be open.
        limits.otherDescriptors = 8 << 10
        return limits
    }

    // MARK: Memory

    /// The memory of a frame and its decoded form.
    func memoryBytes(of header: WireHeader) -> Int {
        let decoded = header.messageCount > uncountedMessageBytes ? decodedBytesPerByte * header.messageCount : 0
        return WireHeader.byteCount + header.contentCount + decoded
    }

    // MARK: Descriptors

    /// The descriptors of a connection: its socket, its process and an event.
    private var descriptorsPerConnection = 3
    /// The descriptors of everything else: a store's readers and writer, files that are written, the bus.
    private var otherDescriptors = 256

    /// The most descriptors that this process may need.
    package var descriptors: Int {
        (connections + furtherConnections + endingConnections) * descriptorsPerConnection + otherDescriptors
    }

    /// Takes fewer connections, so that these are enough.
    package mutating func fit(descriptors: Int) {
        let possible =
            (descriptors - otherDescriptors) / descriptorsPerConnection - furtherConnections
            - endingConnections
        connections = min(connections, max(1, possible))
    }
}
