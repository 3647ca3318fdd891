#define _GNU_SOURCE
#include "CKeychainTestSupport.h"

#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

int ckeychain_test_has_secret_memory(void) {
    long descriptor = syscall(SYS_memfd_secret, 0);
    if (descriptor < 0) return 0;
    close((int)descriptor);
    return 1;
}
