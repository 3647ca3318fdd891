#define _GNU_SOURCE
#include "CKeychainLinux.h"

#include <errno.h>
#include <linux/time_types.h>
#include <spawn.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

int ckeychain_is_secure_execution(void) {
    return getauxval(AT_SECURE) != 0;
}

// The linker defines these two around every section whose name is a C identifier; they stay
// undefined, hence weak, in a program that embeds nothing.
extern const char __start_keychain_entitlements[] __attribute__((weak));
extern const char __stop_keychain_entitlements[] __attribute__((weak));

const void *ckeychain_embedded_entitlements(size_t *count) {
    if (__start_keychain_entitlements == NULL) {
        *count = 0;
        return NULL;
    }
    *count = (size_t)(__stop_keychain_entitlements - __start_keychain_entitlements);
    return __start_keychain_entitlements;
}

int ckeychain_read_clock(int clock, int64_t *seconds, int32_t *nanoseconds) {
    struct __kernel_timespec time;
#ifdef SYS_clock_gettime64
    long result = syscall(SYS_clock_gettime64, clock, &time);
#else
    long result = syscall(SYS_clock_gettime, clock, &time);
#endif
    *seconds = time.tv_sec;
    *nanoseconds = (int32_t)time.tv_nsec;
    return result == 0 ? 0 : errno;
}

int ckeychain_is_clock_synchronized(void) {
    struct timex state = {.modes = 0};
    long result = syscall(SYS_adjtimex, &state);
    return result >= 0 && result != TIME_ERROR && (state.status & STA_UNSYNC) == 0;
}

int ckeychain_hide_process(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 ? 0 : errno; }

int ckeychain_add_close_from(void *actions, int lowest) {
    return posix_spawn_file_actions_addclosefrom_np(actions, lowest);
}
