#define _GNU_SOURCE
#include "CKeychainLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/vfs.h>
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

void ckeychain_limit_lock_waits(int milliseconds) { longest_lock_wait = milliseconds; }

/// The kernel's own wait has no limit, so the lock is tried until the time is over.
static int try_range_lock(int descriptor, struct flock *range) {
    for (int waited = 0;; waited++) {
        if (fcntl(descriptor, F_OFD_SETLK, range) == 0) {
            return 0;
        }
        if (errno != EAGAIN && errno != EACCES && errno != EINTR) {
            return errno;
        }
        if (waited >= longest_lock_wait) {
            return ETIMEDOUT;
        }
        (void)usleep(1000);
    }
}

static int set_range_lock(int descriptor, short kind, int64_t count, int command) {
    struct flock range = {.l_type = kind, .l_whence = SEEK_SET, .l_start = 0, .l_len = (off_t)count};
    if (command == F_OFD_SETLKW && longest_lock_wait > 0) {
        return try_range_lock(descriptor, &range);
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
