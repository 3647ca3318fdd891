#define _GNU_SOURCE
#include "CKeychainLinux.h"

#include <errno.h>
#include <linux/keyctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// The possessor and the owning user may do everything; no other user may do anything (keyctl_setperm(3)).
#define OWNER_ONLY 0x3f3f0000u

static long control(int operation, unsigned long a, unsigned long b, unsigned long c, unsigned long d) {
    return syscall(SYS_keyctl, operation, a, b, c, d);
}

static unsigned long special(int keyring) { return (unsigned long)(long)keyring; }

int ckeychain_keyring_check(void) {
    return control(KEYCTL_GET_KEYRING_ID, special(KEY_SPEC_USER_KEYRING), 1, 0, 0) < 0 ? errno : 0;
}

struct put {
    const char *name;
    const void *payload;
    size_t count;
    unsigned seconds;
    int failure;
};

// The key is made in the thread's own keyring, since only a possessor can set its mode, and some sessions do not
// possess the user's keyring. Linking it there then replaces one of the same name.
static void *put(void *argument) {
    struct put *put = argument;
    long serial = syscall(SYS_add_key, "user", put->name, put->payload, put->count, KEY_SPEC_THREAD_KEYRING);
    if (serial < 0) {
        put->failure = errno;
        return NULL;
    }
    unsigned long key = (unsigned long)serial;
    if (control(KEYCTL_SETPERM, key, OWNER_ONLY, 0, 0) < 0 ||
        (put->seconds != 0 && control(KEYCTL_SET_TIMEOUT, key, put->seconds, 0, 0) < 0) ||
        control(KEYCTL_LINK, key, special(KEY_SPEC_USER_KEYRING), 0, 0) < 0) {
        put->failure = errno;
        (void)control(KEYCTL_INVALIDATE, key, 0, 0, 0);
    }
    (void)control(KEYCTL_UNLINK, key, special(KEY_SPEC_THREAD_KEYRING), 0, 0);
    return NULL;
}

// On a thread that ends with it: a thread that has a keyring keeps it, each thread that it starts gets one too, and each
// file that it opens holds it. All of them count against the user's quota of 200 keys.
int ckeychain_keyring_put(const char *name, const void *payload, size_t count, unsigned seconds) {
    struct put call = {.name = name, .payload = payload, .count = count, .seconds = seconds};
    int failure = ckeychain_run_thread(put, &call);
    return failure != 0 ? failure : call.failure;
}

int ckeychain_keyring_update(int32_t serial, const void *payload, size_t count, unsigned seconds) {
    if (control(KEYCTL_UPDATE, (unsigned long)(long)serial, (unsigned long)payload, count, 0) < 0) {
        return errno;
    }
    return ckeychain_keyring_set_timeout(serial, seconds);
}

int ckeychain_keyring_find(const char *name, int32_t *serial) {
    long key = control(KEYCTL_SEARCH, special(KEY_SPEC_USER_KEYRING), (unsigned long)"user", (unsigned long)name, 0);
    if (key < 0) {
        return errno;
    }
    *serial = (int32_t)key;
    return 0;
}

int ckeychain_keyring_read(int32_t serial, void *payload, size_t capacity, size_t *count) {
    long length = control(KEYCTL_READ, (unsigned long)(long)serial, (unsigned long)payload, capacity, 0);
    if (length < 0) {
        return errno;
    }
    if ((size_t)length > capacity) {
        return EMSGSIZE;
    }
    *count = (size_t)length;
    return 0;
}

int ckeychain_keyring_remove(int32_t serial) {
    unsigned long key = (unsigned long)(long)serial;
    // Unlinked before it is invalidated: for a key that the kernel takes out of the keyring by itself it goes on counting
    // four bytes against the user's quota of 20,000, until the next start of the system.
    int is_unlinked = control(KEYCTL_UNLINK, key, special(KEY_SPEC_USER_KEYRING), 0, 0) == 0;
    // A process may have linked it elsewhere.
    if (control(KEYCTL_INVALIDATE, key, 0, 0, 0) == 0) {
        return 0;
    }
    return is_unlinked && (errno == ENOKEY || errno == EKEYREVOKED) ? 0 : errno;
}

int ckeychain_keyring_list(int32_t *serials, size_t capacity, size_t *count) {
    long length = control(
        KEYCTL_READ, special(KEY_SPEC_USER_KEYRING), (unsigned long)serials, capacity * sizeof *serials, 0);
    if (length < 0) {
        return errno;
    }
    *count = (size_t)length / sizeof *serials;
    return 0;
}

int ckeychain_keyring_describe(int32_t serial, char *description, size_t capacity) {
    long length = control(
        KEYCTL_DESCRIBE, (unsigned long)(long)serial, (unsigned long)description, capacity, 0);
    if (length < 0) {
        return errno;
    }
    return (size_t)length > capacity ? EMSGSIZE : 0;
}

int ckeychain_keyring_set_timeout(int32_t serial, unsigned seconds) {
    return control(KEYCTL_SET_TIMEOUT, (unsigned long)(long)serial, seconds, 0, 0) < 0 ? errno : 0;
}
