import Foundation
import Glibc
import Testing

/// A terminal whose other end the test holds.
final class PseudoTerminal {
    private let person: FileHandle
    private let program: FileHandle
    let path: String
    /// Everything that was on the screen.
    private(set) var screen = ""
    /// How much of it the test has seen.
    private var seen = 0

    struct NotThere: Error {}

    /// Glibc's own functions for this are hidden from Swift; the kernel's requests are TIOCSPTLCK and TIOCGPTN.
    init() throws {
        let master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var number: Int32 = 0
        guard master >= 0, ioctl(master, 0x4004_5431, &number) == 0, ioctl(master, 0x8004_5430, &number) == 0 else {
            throw NotThere()
        }
        path = "/dev/pts/\(number)"
        let slave = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard slave >= 0 else { throw NotThere() }
        person = FileHandle(fileDescriptor: master, closeOnDealloc: true)
        program = FileHandle(fileDescriptor: slave, closeOnDealloc: true)
        var size = winsize(ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0)
        guard ioctl(slave, UInt(TIOCSWINSZ), &size) == 0 else { throw NotThere() }
    }

    private var modes: termios {
        var modes = termios()
        tcgetattr(program.fileDescriptor, &modes)
        return modes
    }

    /// Whether it shows what is typed and makes lines of it, as a shell wants it.
    var isUsual: Bool {
        let wanted = tcflag_t(ECHO | ICANON | ISIG)
        return modes.c_lflag & wanted == wanted
    }

    var echoes: Bool { modes.c_lflag & tcflag_t(ECHO) != 0 }

    func type(_ text: String) throws { try type(Array(text.utf8)) }

    func type(_ bytes: [UInt8]) throws { try person.write(contentsOf: Data(bytes)) }

    /// Waits until the screen shows this, after what was waited for before.
    func await(_ text: String) throws {
        while !unseen.contains(text) {
            var waiting = pollfd(fd: person.fileDescriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, 60_000) == 1 else { throw TookTooLong() }
            screen += String(decoding: person.availableData, as: UTF8.self)
        }
        seen = screen.utf8.count
    }

    /// Reads what was written, without waiting for more.
    func readRest() {
        var waiting = pollfd(fd: person.fileDescriptor, events: Int16(POLLIN), revents: 0)
        while poll(&waiting, 1, 0) == 1, waiting.revents & Int16(POLLIN) != 0 {
            screen += String(decoding: person.availableData, as: UTF8.self)
        }
    }

    private var unseen: String { String(decoding: screen.utf8.dropFirst(seen), as: UTF8.self) }
}
