internal import Glibc

/// How a terminal was set before another program asked there.
struct TerminalModes {
    private let device: TerminalDevice
    private let before: termios

    /// nil if there is no such terminal.
    init?(of path: String) {
        var before = termios()
        guard let device = try? TerminalDevice(path), tcgetattr(device.descriptor, &before) == 0 else { return nil }
        (self.device, self.before) = (device, before)
    }

    /// Sets the former modes again. Input that was typed and not read yet may be half a secret: it goes.
    func restore() {
        var before = before
        var held = sigset_t()
        var heldBefore = sigset_t()
        sigemptyset(&held)
        // A program in the background would be stopped for this.
        sigaddset(&held, SIGTTOU)
        pthread_sigmask(SIG_BLOCK, &held, &heldBefore)
        tcflush(device.descriptor, TCIFLUSH)
        tcsetattr(device.descriptor, TCSANOW, &before)
        pthread_sigmask(SIG_SETMASK, &heldBefore, nil)
    }
}
