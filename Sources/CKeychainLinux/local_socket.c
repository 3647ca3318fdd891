#define _GNU_SOURCE
#include "CKeychainLinux.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000LL + time.tv_nsec / 1000000;
}

int ckeychain_connect(const char *path, int milliseconds, int *descriptor) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) return ENAMETOOLONG;
    strcpy(address.sun_path, path);
    int opened = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (opened < 0) return errno;
    struct timeval limit = {milliseconds / 1000, milliseconds % 1000 * 1000};
    setsockopt(opened, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    int failure = 0;
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
