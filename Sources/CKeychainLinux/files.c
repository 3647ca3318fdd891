#define _GNU_SOURCE
#include "CKeychainLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/vfs.h>
#include <signal.h>
#include <time.h>
#include <pthread.h>
#include <unistd.h>

int ckeychain_exchange(const char *first, const char *second) {
    return renameat2(AT_FDCWD, first, AT_FDCWD, second, RENAME_EXCHANGE) == 0 ? 0 : errno;
}

int ckeychain_rename_to_free_name(const char *from, const char *to) {
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) {
        return 0;
    }
    if (errno != EINVAL && errno != ENOSYS) {
        return errno;
    }
    // A file system of another machine, as a rule. It has links, which never take the place of what is there either.
    if (link(from, to) != 0) {
        return errno;
    }
    return unlink(from) == 0 ? 0 : errno;
}

int ckeychain_lock_byte(int descriptor, int64_t offset) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = offset, .l_len = 1};
    return fcntl(descriptor, F_OFD_SETLK, &lock) == 0 ? 0 : errno;
}

int ckeychain_share_byte(int descriptor, int64_t offset) {
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = offset, .l_len = 1};
    return fcntl(descriptor, F_OFD_SETLK, &lock) == 0 ? 0 : errno;
}

int ckeychain_unlock_byte(int descriptor, int64_t offset) {
    struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = offset, .l_len = 1};
    return fcntl(descriptor, F_OFD_SETLK, &lock) == 0 ? 0 : errno;
}

int ckeychain_is_byte_locked(int descriptor, int64_t offset, int *is_locked) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = offset, .l_len = 1};
    if (fcntl(descriptor, F_OFD_GETLK, &lock) != 0) {
        return errno;
    }
    *is_locked = lock.l_type != F_UNLCK;
    return 0;
}

static _Thread_local int longest_lock_wait;

static void note_nothing(int number) { (void)number; }

void ckeychain_limit_lock_waits(int milliseconds) {
    // Without SA_RESTART: the signal ends the kernel's wait.
    struct sigaction action = {.sa_handler = note_nothing};
    (void)sigaction(SIGURG, &action, NULL);
    longest_lock_wait = milliseconds;
}

/// A timer that sends a signal to this thread when the time is over, and again each tenth of a second: one that comes between
/// two waits would be lost.
static int start_timer(timer_t *timer) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGURG};
    event._sigev_un._tid = gettid();
    if (timer_create(CLOCK_MONOTONIC, &event, timer) != 0) {
        return errno;
    }
    struct itimerspec time = {.it_value = {longest_lock_wait / 1000, longest_lock_wait % 1000 * 1000000 + 1},
                              .it_interval = {0, 100000000}};
    int failure = timer_settime(*timer, 0, &time, NULL) == 0 ? 0 : errno;
    if (failure != 0) {
        (void)timer_delete(*timer);
    }
    return failure;
}

/// Waits in the kernel's queue, so that a program that takes the lock again and again does not keep others from it.
static int await_range_lock(int descriptor, struct flock *range) {
    struct timespec start, now;
    sigset_t urgent, before;
    timer_t timer;
    int failure = start_timer(&timer);
    if (failure != 0) {
        return failure;
    }
    (void)clock_gettime(CLOCK_MONOTONIC, &start);
    sigemptyset(&urgent);
    sigaddset(&urgent, SIGURG);
    (void)pthread_sigmask(SIG_UNBLOCK, &urgent, &before);
    while ((failure = fcntl(descriptor, F_OFD_SETLKW, range) == 0 ? 0 : errno) == EINTR) {
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
        if ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 >= longest_lock_wait) {
            failure = ETIMEDOUT;
            break;
        }
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)timer_delete(timer);
    return failure;
}

static int set_range_lock(int descriptor, short kind, int64_t count, int command) {
    struct flock range = {.l_type = kind, .l_whence = SEEK_SET, .l_start = 0, .l_len = (off_t)count};
    if (command == F_OFD_SETLKW && longest_lock_wait > 0) {
        int failure = fcntl(descriptor, F_OFD_SETLK, &range) == 0 ? 0 : errno;
        return failure == EAGAIN || failure == EACCES ? await_range_lock(descriptor, &range) : failure;
    }
    while (fcntl(descriptor, command, &range) != 0) {
        if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

int ckeychain_await_lock(int descriptor, int64_t count) {
    return set_range_lock(descriptor, F_WRLCK, count, F_OFD_SETLKW);
}

int ckeychain_try_lock(int descriptor, int64_t count) {
    return set_range_lock(descriptor, F_WRLCK, count, F_OFD_SETLK);
}

int ckeychain_share_lock(int descriptor, int64_t count) {
    return set_range_lock(descriptor, F_RDLCK, count, F_OFD_SETLK);
}

int ckeychain_await_shared_lock(int descriptor, int64_t count) {
    return set_range_lock(descriptor, F_RDLCK, count, F_OFD_SETLKW);
}

int ckeychain_unlock(int descriptor, int64_t count) {
    return set_range_lock(descriptor, F_UNLCK, count, F_OFD_SETLK);
}

void ckeychain_begin_sync(int descriptor) { (void)sync_file_range(descriptor, 0, 0, SYNC_FILE_RANGE_WRITE); }

int ckeychain_sync_all(int descriptor) { return syncfs(descriptor); }

int ckeychain_file_system_type(int descriptor, int64_t *type) {
    struct statfs status;
    if (fstatfs(descriptor, &status) != 0) {
        return errno;
    }
    *type = status.f_type;
    return 0;
}

int ckeychain_punch(int descriptor, int64_t offset, int64_t count) {
    return fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)count);
}
