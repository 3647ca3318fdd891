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
        let source = try MountPoint.real(directory)
        self.source = source
        if Ancestors.overlap(self.point.path, source) {
            throw KeychainError(
                .parameter,
                message: "\(source) and \(self.point.path) lie in each other: one of them has to be elsewhere")
        }
        let opened = open(source, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard opened >= 0 else {
            throw KeychainError(.parameter, message: "cannot open \(source): \(String(cString: strerror(errno)))")
        }
        self.directory = OpenDescriptor(opened)
        try requireNoOther(own: 0)
    }

    /// Two mounts would keep different pages and locks of one file.
    ///
    /// - Parameter count: The number of mounts at the mount point that are this one.
    private func requireNoOther(own count: Int) throws(KeychainError) {
        let all = KeychainMounts.all
        let others = all.filter { $0.point == point.path }.dropFirst(count) + all.filter { $0.point != point.path }
        if let other = others.first(where: { Ancestors.overlap($0.source, source) }) {
            throw KeychainError(
                .parameter,
                message: "\(other.source) is mounted already: 'keychainctl file unmount \(other.point)' ends that")
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
        do throws(KeychainError) {
            try serve(device, files, signals, whenReady)
        } catch {
            // Without this program the mount point could not be used.
            try? point.unmount(lazily: true)
            throw error
        }
    }

    private func serve(
        _ device: Device, _ files: ProtectedFiles, _ signals: OpenDescriptor, _ whenReady: () -> Void
    ) throws(KeychainError) {
        // If two begin at once, both may give way.
        try requireNoOther(own: 1)
        let notices = Notices(device)
        let volume = try refusal { () throws(Refusal) in try Volume(root: directory, files, notices) }
        let session = Session(device, volume)
        try refusal { () throws(Refusal) in try session.begin() }
        try notices.start()
        let steps = LockSteps(volume: volume, device: device)
        let lock = Task.detached { await steps.follow() }
        let closings = files.whenClassesClose { steps.close() }
        defer {
            lock.cancel()
            closings.end()
        }
        let (point, below, watcher) = (point, directory, try point.startWatcher())
        try WorkerThread.start("keychain signal") {
            var wait = pollfd(fd: signals.number, events: Int16(POLLIN), revents: 0)
            while poll(&wait, 1, -1) < 1 {}
            // Programs that use files there do not keep this one from ending. Their changes of mapped pages
            // are written before.
            guard (try? point.unmount(lazily: true)) != nil else { exit(1) }
            steps.emptyCache(isOfAll: true, within: .seconds(10))
            _ = ckeychain_sync_all(below.number)
            exit(0)
        }
        try withExtendedLifetime(watcher) { () throws(KeychainError) in try session.run(whenReady) }
        _ = ckeychain_sync_all(below.number)
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
