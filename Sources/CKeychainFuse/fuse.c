#define _GNU_SOURCE
#include "CKeychainFuse.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

int ckeychain_fuse_receive(int socket, int *descriptor) {
    char byte;
    struct iovec part = {.iov_base = &byte, .iov_len = 1};
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    ssize_t count;
    while ((count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
    }
    if (count < 0) {
        return errno;
    }
    struct cmsghdr *first = CMSG_FIRSTHDR(&message);
    if (count == 0 || first == NULL || first->cmsg_level != SOL_SOCKET || first->cmsg_type != SCM_RIGHTS ||
        first->cmsg_len != CMSG_LEN(sizeof(int))) {
        return ENODATA;
    }
    memcpy(descriptor, CMSG_DATA(first), sizeof(int));
    return 0;
}

int ckeychain_fuse_open_name(int directory, const char *name, int *descriptor) {
    struct open_how how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC, .resolve = RESOLVE_NO_XDEV};
    *descriptor = (int)syscall(SYS_openat2, directory, name, &how, sizeof how);
    return *descriptor < 0 ? errno : 0;
}

int ckeychain_fuse_list(int directory, int64_t place, void *bytes, size_t capacity, size_t *count) {
    if (lseek(directory, place, SEEK_SET) < 0) {
        return errno;
    }
    long read = syscall(SYS_getdents64, directory, bytes, capacity);
    *count = read < 0 ? 0 : (size_t)read;
    return read < 0 ? errno : 0;
}

int ckeychain_fuse_rename(int from, const char *name, int to, const char *new_name, unsigned flags) {
    return renameat2(from, name, to, new_name, flags) == 0 ? 0 : errno;
}

int ckeychain_fuse_set_attribute(const char *path, const char *name, const void *value, size_t count, int flags) {
    return setxattr(path, name, value, count, flags) == 0 ? 0 : errno;
}
