/// The question to polkit whether a process may do something. Polkit may ask the process's user to show who it is, as long
/// as the connection that asks is open.
package struct AuthorizationCheck {
    /// polkit's connection, by a name that no other program can have.
    package var destination: String
    package var action: String
    package var process: Int32
    /// When it was started, in the kernel's ticks since the system was.
    package var start: UInt64
    package var user: UInt32

    package init(destination: String, action: String, process: Int32, start: UInt64, user: UInt32) {
        self.destination = destination
        self.action = action
        self.process = process
        self.start = start
        self.user = user
    }
}
