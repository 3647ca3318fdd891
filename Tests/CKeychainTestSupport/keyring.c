#define _GNU_SOURCE
#include "CKeychainTestSupport.h"

#include <errno.h>
#include <linux/keyctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int ckeychain_test_read_key(int32_t serial) {
    char payload[1024];
    return syscall(SYS_keyctl, KEYCTL_READ, (long)serial, payload, sizeof payload) < 0 ? errno : 0;
}
