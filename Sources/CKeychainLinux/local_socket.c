#define _GNU_SOURCE
#include "CKeychainLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000LL + time.tv_nsec / 1000000;
}

// An abstract address (unix(7)) begins with a zero byte and has no file.
static const char lock_name[] = "\0keychain-lock-";
enum { lock_name_size = sizeof lock_name - 1, random_size = 16 };

// The rest of the name is random, so that no other program has taken it.
static int bind_for_lock(int socket) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, lock_name, lock_name_size);
    if (getrandom(address.sun_path + lock_name_size, random_size, 0) != random_size) return EAGAIN;
    socklen_t size = offsetof(struct sockaddr_un, sun_path) + lock_name_size + random_size;
    return bind(socket, (struct sockaddr *)&address, size) == 0 ? 0 : errno;
}

int ckeychain_asks_for_lock(int socket) {
    struct sockaddr_un address;
    socklen_t size = sizeof address;
    return getpeername(socket, (struct sockaddr *)&address, &size) == 0 &&
           size >= offsetof(struct sockaddr_un, sun_path) + lock_name_size &&
           memcmp(address.sun_path, lock_name, lock_name_size) == 0;
}

int ckeychain_above_standard(int descriptor) {
    if (descriptor < 0 || descriptor > STDERR_FILENO) return descriptor;
    int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int failure = errno;
    close(descriptor);
    errno = failure;
    return moved;
}

static int connect_socket(const char *path, int milliseconds, int is_for_lock, int *descriptor) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) return ENAMETOOLONG;
    strcpy(address.sun_path, path);
    int opened = ckeychain_above_standard(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (opened < 0) return errno;
    struct timeval limit = {milliseconds / 1000, milliseconds % 1000 * 1000};
    setsockopt(opened, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    int failure = is_for_lock ? bind_for_lock(opened) : 0;
    if (failure) {
        close(opened);
        return failure;
    }
    // It only waits for a place in the queue, and a signal ends that without a connection.
    long long end = now() + milliseconds;
    do {
        failure = connect(opened, (struct sockaddr *)&address, sizeof address) == 0 ? 0 : errno;
    } while (failure == EINTR && now() < end);
    if (failure == EINTR) failure = EAGAIN;
    if (failure) {
        close(opened);
        return failure;
    }
    *descriptor = opened;
    return 0;
}

int ckeychain_connect(const char *path, int milliseconds, int *descriptor) {
    return connect_socket(path, milliseconds, 0, descriptor);
}

int ckeychain_connect_for_lock(const char *path, int milliseconds, int *descriptor) {
    return connect_socket(path, milliseconds, 1, descriptor);
}
