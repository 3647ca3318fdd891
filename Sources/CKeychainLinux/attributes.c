#include "CKeychainLinux.h"

#include <errno.h>
#include <sys/types.h>
#include <sys/xattr.h>

static int result(ssize_t size, size_t *count) {
    if (size < 0) {
        return errno;
    }
    *count = (size_t)size;
    return 0;
}

int ckeychain_get_attribute(const char *path, int descriptor, const char *name, void *value, size_t capacity,
                            size_t *count) {
    return result(path ? getxattr(path, name, value, capacity) : fgetxattr(descriptor, name, value, capacity), count);
}

int ckeychain_list_attributes(int descriptor, char *names, size_t capacity, size_t *count) {
    return result(flistxattr(descriptor, names, capacity), count);
}

int ckeychain_set_attribute(const char *path, int descriptor, const char *name, const void *value, size_t count) {
    int status = path ? setxattr(path, name, value, count, 0) : fsetxattr(descriptor, name, value, count, 0);
    return status == 0 ? 0 : errno;
}

int ckeychain_remove_attribute(const char *path, int descriptor, const char *name) {
    int status = path ? removexattr(path, name) : fremovexattr(descriptor, name);
    return status == 0 ? 0 : errno;
}
