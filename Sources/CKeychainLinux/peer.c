#define _GNU_SOURCE
#include "CKeychainLinux.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

// Newer than some of the headers that this is compiled with; the numbers are the kernel's, the same on every machine
// that Swift runs on (asm-generic/socket.h).
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif
#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

int ckeychain_peer(int socket, ckeychain_process *peer) {
    struct ucred credentials;
    socklen_t size = sizeof credentials;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) {
        return errno;
    }
    *peer = (ckeychain_process){.pid = credentials.pid, .uid = credentials.uid, .gid = credentials.gid};
    return 0;
}

int ckeychain_peer_user(int socket, uint32_t *user) {
    ckeychain_process peer;
    int failure = ckeychain_peer(socket, &peer);
    if (failure == 0) {
        *user = peer.uid;
    }
    return failure;
}

int ckeychain_peer_descriptor(int socket, int *descriptor) {
    socklen_t size = sizeof *descriptor;
    return getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, descriptor, &size) == 0 ? 0 : errno;
}

int ckeychain_open_process(int32_t pid, int *descriptor) {
    long opened = syscall(SYS_pidfd_open, pid, 0);
    *descriptor = (int)opened;
    return opened < 0 ? errno : 0;
}

int ckeychain_peer_groups(int socket, uint32_t *groups, size_t capacity, size_t *count) {
    socklen_t size = (socklen_t)(capacity * sizeof *groups);
    if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups, &size) != 0) {
        return errno;
    }
    *count = size / sizeof *groups;
    return 0;
}

int ckeychain_peer_label(int socket, char *label, size_t capacity) {
    socklen_t size = (socklen_t)(capacity - 1);
    memset(label, 0, capacity);
    return getsockopt(socket, SOL_SOCKET, SO_PEERSEC, label, &size) == 0 ? 0 : errno;
}

int ckeychain_want_senders(int socket) {
    int yes = 1, no = 0;
    if (setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) != 0) {
        return errno;
    }
    // The option is there since Linux 6.16. Before that the descriptors that a message brings are closed as it is
    // received.
    (void)setsockopt(socket, SOL_SOCKET, SO_PASSRIGHTS, &no, sizeof no);
    return 0;
}

int ckeychain_receive(int socket, void *bytes, size_t capacity, size_t *count, ckeychain_sender *sender) {
    struct iovec part = {.iov_base = bytes, .iov_len = capacity};
    // Room for the credentials and nothing more: the kernel closes descriptors that find none.
    union {
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
        struct cmsghdr aligned;
    } control;
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    ssize_t received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (received < 0) {
        return errno;
    }
    *count = (size_t)received;
    *sender = (ckeychain_sender){.sent_more = (message.msg_flags & MSG_CTRUNC) != 0};
    for (struct cmsghdr *part = CMSG_FIRSTHDR(&message); part != NULL; part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_CREDENTIALS &&
            part->cmsg_len == CMSG_LEN(sizeof(struct ucred))) {
            struct ucred credentials;
            memcpy(&credentials, CMSG_DATA(part), sizeof credentials);
            sender->process =
                (ckeychain_process){.pid = credentials.pid, .uid = credentials.uid, .gid = credentials.gid};
            sender->is_known = 1;
        } else {
            sender->sent_more = 1;
        }
    }
    return 0;
}

int ckeychain_await_sender(int socket, int milliseconds, int32_t *pid, uint32_t *user) {
    int failure = ckeychain_want_senders(socket);
    if (failure != 0) {
        return failure;
    }
    struct pollfd waiting = {.fd = socket, .events = POLLIN};
    int count = poll(&waiting, 1, milliseconds);
    if (count <= 0) {
        return count == 0 ? ETIMEDOUT : errno;
    }
    char byte;
    size_t received = 0;
    ckeychain_sender sender;
    failure = ckeychain_receive(socket, &byte, 1, &received, &sender);
    if (failure == 0 && (received == 0 || !sender.is_known)) {
        failure = ENODATA;
    }
    if (failure == 0) {
        *pid = sender.process.pid;
        *user = sender.process.uid;
    }
    return failure;
}

int ckeychain_accept(int listener, int *socket) {
    *socket = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    return *socket < 0 ? errno : 0;
}

int ckeychain_listen(const char *path, int *listener) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        return ENAMETOOLONG;
    }
    strcpy(address.sun_path, path);
    int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (made < 0) {
        return errno;
    }
    if (bind(made, (struct sockaddr *)&address, sizeof address) != 0 || listen(made, SOMAXCONN) != 0) {
        int failure = errno;
        close(made);
        return failure;
    }
    *listener = made;
    return 0;
}

int ckeychain_is_listener(int descriptor, int *is_listener) {
    int domain = 0, type = 0, listens = 0;
    socklen_t size = sizeof(int);
    if (getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0 ||
        getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) != 0 ||
        getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0) {
        return errno;
    }
    *is_listener = domain == AF_UNIX && type == SOCK_STREAM && listens != 0;
    return 0;
}

int ckeychain_datagram(const char *name, const void *bytes, size_t count) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(name);
    if (length == 0 || length >= sizeof address.sun_path) {
        return ENAMETOOLONG;
    }
    memcpy(address.sun_path, name, length);
    if (name[0] == '@') {
        address.sun_path[0] = '\0';
    }
    int sender = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (sender < 0) {
        return errno;
    }
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    ssize_t sent = sendto(sender, bytes, count, MSG_NOSIGNAL, (struct sockaddr *)&address, size);
    int failure = sent < 0 ? errno : 0;
    close(sender);
    return failure;
}
