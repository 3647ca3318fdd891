#include "CKeychainLinux.h"

#include <errno.h>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

int ckeychain_watch_file(const char *path, int *descriptor) {
    int watcher = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (watcher < 0) {
        return errno;
    }
    if (inotify_add_watch(watcher, path, IN_MODIFY | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF) < 0) {
        int failure = errno;
        close(watcher);
        return failure;
    }
    *descriptor = watcher;
    return 0;
}

int ckeychain_await_change(int descriptor, int milliseconds, int *changed) {
    struct pollfd waiting = {.fd = descriptor, .events = POLLIN};
    int ready = poll(&waiting, 1, milliseconds);
    if (ready < 0 && errno != EINTR) {
        return errno;
    }
    *changed = ready > 0;
    char events[4096];
    while (read(descriptor, events, sizeof events) > 0) {
    }
    return 0;
}
