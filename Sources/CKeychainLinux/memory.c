#define _GNU_SOURCE
#include "CKeychainLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

// This number holds on every architecture; older headers lack it.
#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

void ckeychain_erase(void *bytes, size_t count) {
    if (bytes != NULL && count != 0) {
        explicit_bzero(bytes, count);
    }
}

int ckeychain_map_pages(size_t count, void **pages, int *is_locked) {
    void *mapped = mmap(NULL, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) {
        return errno;
    }
    *is_locked = mlock(mapped, count) == 0;
    (void)madvise(mapped, count, MADV_DONTDUMP);
    (void)madvise(mapped, count, MADV_WIPEONFORK);
    *pages = mapped;
    return 0;
}

int ckeychain_map_secret_pages(size_t count, void **pages) {
    int file = (int)syscall(SYS_memfd_secret, O_CLOEXEC);
    if (file < 0) {
        return errno;
    }
    int failure = ftruncate(file, (off_t)count) == 0 ? 0 : errno;
    void *mapped = MAP_FAILED;
    if (failure == 0) {
        mapped = mmap(NULL, count, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        failure = mapped == MAP_FAILED ? errno : 0;
    }
    // The mapping keeps the memory.
    (void)close(file);
    if (failure == 0) {
        // A child would share it.
        (void)madvise(mapped, count, MADV_DONTFORK);
        *pages = mapped;
    }
    return failure;
}

void ckeychain_release_pages(void *pages, size_t count) {
    explicit_bzero(pages, count);
    (void)munmap(pages, count);
}

int ckeychain_random(void *bytes, size_t count) {
    unsigned char *next = bytes;
    while (count > 0) {
        ssize_t got = getrandom(next, count, 0);
        if (got < 0) {
            if (errno == EINTR) {
                continue;
            }
            return errno;
        }
        next += got;
        count -= (size_t)got;
    }
    return 0;
}
