#define _GNU_SOURCE
#include "CKeychainLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// Older headers lack it.
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

static int fill(int file, const unsigned char *bytes, size_t count, int may_change) {
    while (count > 0) {
        ssize_t written = write(file, bytes, count);
        if (written < 0 && errno != EINTR) {
            return errno;
        }
        if (written > 0) {
            bytes += written;
            count -= (size_t)written;
        }
    }
    if (lseek(file, 0, SEEK_SET) < 0) {
        return errno;
    }
    int seals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
    return may_change || fcntl(file, F_ADD_SEALS, seals) == 0 ? 0 : errno;
}

int ckeychain_memory_file(const char *name, const void *bytes, size_t count, int may_change, int *descriptor) {
    // EINVAL: a kernel before 6.3.
    int file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
    if (file < 0 && errno == EINVAL) {
        file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    }
    if (file < 0) {
        return errno;
    }
    // Editors give the mode to the copies that they make.
    int failure = fchmod(file, S_IRUSR | S_IWUSR) == 0 ? fill(file, bytes, count, may_change) : errno;
    // Beyond the numbers that people use in shell scripts.
    *descriptor = failure == 0 ? fcntl(file, may_change ? F_DUPFD_CLOEXEC : F_DUPFD, 10) : -1;
    if (failure == 0 && *descriptor < 0) {
        failure = errno;
    }
    (void)close(file);
    return failure;
}
