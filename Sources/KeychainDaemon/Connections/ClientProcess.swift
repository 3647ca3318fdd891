internal import Glibc

/// The process of a client, and the user with whom it shares places and memory first.
struct ClientProcess: Hashable {
    let user: uid_t
    let pid: Int32
}
