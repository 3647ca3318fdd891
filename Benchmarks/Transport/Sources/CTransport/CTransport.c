#define _GNU_SOURCE
#include "CTransport.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

// MARK: Frames

size_t transport_frame_size(const void *bytes) {
    uint32_t lengths[2];
    memcpy(lengths, bytes, sizeof lengths);
    return transport_header_size + (size_t)ntohl(lengths[0]) + ntohl(lengths[1]);
}

void transport_fill_frame(void *bytes, size_t size) {
    const uint32_t tail = 40;
    uint32_t lengths[2] = {htonl((uint32_t)size - transport_header_size - tail), htonl(tail)};
    memset(bytes, 's', size);
    memcpy(bytes, lengths, sizeof lengths);
}

// MARK: Sockets

static int named_socket(const char *path, struct sockaddr_un *address) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    if (strlen(path) >= sizeof address->sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address->sun_path, path);
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

int transport_listen(const char *path) {
    struct sockaddr_un address;
    int listener = named_socket(path, &address);
    int on = 1;
    // Accepted sockets inherit it, so that the first message carries credentials too.
    if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0 ||
        bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 256) != 0) {
        return -1;
    }
    return listener;
}

int transport_connect(const char *path) {
    struct sockaddr_un address;
    int connection = named_socket(path, &address);
    if (connection < 0 || connect(connection, (struct sockaddr *)&address, sizeof address) != 0) {
        return -1;
    }
    return connection;
}

ssize_t transport_receive(int socket, void *bytes, size_t size) {
    union {
        struct cmsghdr aligned;
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
    } control;
    struct iovec part = {.iov_base = bytes, .iov_len = size};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (count <= 0) {
        return count;
    }
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    struct ucred sender = {.uid = (uid_t)-1};
    if (header != NULL && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_CREDENTIALS) {
        memcpy(&sender, CMSG_DATA(header), sizeof sender);
    }
    if (sender.uid != geteuid()) {
        errno = EACCES;
        return -1;
    }
    return count;
}

int transport_send(int socket, const void *bytes, size_t size) {
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    while (part.iov_len > 0) {
        ssize_t count = sendmsg(socket, &message, MSG_NOSIGNAL);
        if (count < 0 && errno != EINTR) {
            return -1;
        }
        if (count > 0) {
            part.iov_base = (char *)part.iov_base + count;
            part.iov_len -= (size_t)count;
        }
    }
    return 0;
}

// MARK: Work and time

void transport_work(uint64_t rounds) {
    uint64_t value = 0x9E3779B97F4A7C15u;
    for (uint64_t round = 0; round < rounds; round++) {
        value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
        __asm__ volatile("" : "+r"(value));
    }
}

double transport_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

double transport_rounds_per_microsecond(void) {
    const uint64_t rounds = 100000;
    double best = 1e9;
    for (int attempt = 0; attempt < 200; attempt++) {
        double start = transport_now();
        transport_work(rounds);
        double time = transport_now() - start;
        best = time < best ? time : best;
    }
    return (double)rounds / best;
}
