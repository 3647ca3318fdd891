internal import DataProtectionCore
internal import Glibc
internal import KeychainClient
internal import KeychainModel
internal import KeychainSystem

/// One mount, from the checks to its end.
struct Mount {
    private let point: MountPoint
    private let directory: OpenDescriptor
    private let source: String

    /// Makes sure that the directory can be mounted there, and is mounted nowhere else.
    init(_ directory: String, at point: String) throws(KeychainError) {
        self.point = try MountPoint(point)
        source = try MountPoint.real(directory)
        for (inner, outer) in [(self.point.path, source), (source, self.point.path)]
        where (inner + "/").hasPrefix(outer + "/") {
            throw KeychainError(.parameter, message: "\(inner) lies in \(outer): one of them has to be elsewhere")
        }
        let opened = open(source, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard opened >= 0 else {
            throw KeychainError(.parameter, message: "cannot open \(source): \(String(cString: strerror(errno)))")
        }
        self.directory = OpenDescriptor(opened)
        // Two mounts would keep different pages of one file. The lock ends with this process.
        guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
            throw KeychainError(.parameter, message: "\(source) is mounted already")
        }
    }

    /// Serves the mount until its end.
    ///
    /// - Parameters:
    ///   - signals: Readable when this program is to end.
    ///   - whenReady: Called when programs can use the mount.
    func serve(
        _ files: ProtectedFiles, signals: OpenDescriptor, whenReady: () -> Void
    ) throws(KeychainError) {
        let device = Device(try point.mount(source))
        let (notices, watch) = (Notices(device), DirectoryWatch())
        let volume = try refusal { () throws(Refusal) in try Volume(root: directory, files, notices, watch) }
        let session = Session(device, volume)
        try refusal { () throws(Refusal) in try session.begin() }
        try notices.start()
        try watch?.start(volume.nodes, device)
        let lock = Task.detached { await LockSteps(volume: volume, device: device).follow() }
        defer { lock.cancel() }
        whenReady()
        let (point, watcher) = (point, try point.startWatcher())
        try WorkerThread.start("keychain signal") {
            var wait = pollfd(fd: signals.number, events: Int16(POLLIN), revents: 0)
            while poll(&wait, 1, -1) < 1 {}
            // Programs that use files there do not keep this one from ending.
            try? point.unmount(lazily: true)
            MountPoint.calmWatcher(watcher)
            exit(0)
        }
        try session.run()
        MountPoint.calmWatcher(watcher)
        _ = ckeychain_sync_all(directory.number)
    }

    private func refusal<R>(_ body: () throws(Refusal) -> R) throws(KeychainError) -> R {
        do throws(Refusal) {
            return try body()
        } catch {
            throw KeychainError(
                .notAvailable, message: "the kernel did not begin: \(String(cString: strerror(error.number)))")
        }
    }
}
