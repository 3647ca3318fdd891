#define _GNU_SOURCE
#include "CKeychainLinux.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int ckeychain_connect(const char *path, int *descriptor) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) return ENAMETOOLONG;
    strcpy(address.sun_path, path);
    int opened = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (opened < 0) return errno;
    int failure = 0;
    // It only waits for a place in the queue, and a signal ends that without a connection.
    do {
        failure = connect(opened, (struct sockaddr *)&address, sizeof address) == 0 ? 0 : errno;
    } while (failure == EINTR);
    if (failure) {
        close(opened);
        return failure;
    }
    *descriptor = opened;
    return 0;
}
