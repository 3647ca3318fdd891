#define _GNU_SOURCE
#include "CKeychainLinux.h"

#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>

int ckeychain_hold_signals(const int *numbers, size_t count, int *descriptor) {
    sigset_t set;
    sigemptyset(&set);
    for (size_t index = 0; index < count; index++) {
        sigaddset(&set, numbers[index]);
    }
    int failure = pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (failure != 0) {
        return failure;
    }
    *descriptor = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return *descriptor < 0 ? errno : 0;
}
